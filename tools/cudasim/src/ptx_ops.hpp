// Semantics of the PTX instructions.
#pragma once
#include "ptx.hpp"

namespace cudasim {
// ---------------------------------------------------------------- float helpers
template <class T>
inline T fz(T x) {
  if constexpr (std::is_same_v<T, float>) {
    if (std::fpclassify(x) == FP_SUBNORMAL) return std::copysign(0.f, x);
  }
  return x;
}
struct RG {
  int old;
  RG(Rnd r) : old(std::fegetround()) {
    std::fesetround(r == RZ   ? FE_TOWARDZERO
                    : r == RM ? FE_DOWNWARD
                    : r == RP ? FE_UPWARD
                              : FE_TONEAREST);
  }
  ~RG() { std::fesetround(old); }
};
template <class T>
inline T satF(T x) {
  return std::isnan(x) ? T(0) : x < 0 ? T(0) : x > 1 ? T(1) : x;
}
inline float bf2f(uint16_t b) {
  uint32_t u = (uint32_t)b << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
inline uint16_t f2bf(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  if (std::isnan(f)) return 0x7fff;
  u += 0x7fff + ((u >> 16) & 1);
  return u >> 16;
}
inline float h2f(uint16_t h) {
  _Float16 x;
  std::memcpy(&x, &h, 2);
  return (float)x;
}
inline uint16_t f2h(double f) {
  _Float16 x = (_Float16)f;
  uint16_t h;
  std::memcpy(&h, &x, 2);
  if (std::isnan(f)) return 0x7fff;
  return h;
}
template <class T>
inline T pmin(T a, T b, bool nan) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) {
      if (nan) return std::numeric_limits<T>::quiet_NaN();
      return std::isnan(a) ? b : a;
    }
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T>
inline T pmax(T a, T b, bool nan) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) {
      if (nan) return std::numeric_limits<T>::quiet_NaN();
      return std::isnan(a) ? b : a;
    }
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

template <class T>
using Uns = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                        std::enable_if<true, T>>::type;
#define OPF(N, EXPR)                      \
  struct N {                              \
    template <class T>                    \
    static T f(T a, T b, const Inst& i) { \
      (void)i;                            \
      using U [[maybe_unused]] = Uns<T>;  \
      return EXPR;                        \
    }                                     \
  }
OPF(OAdd, (T)((U)a + (U)b));

OPF(OSub, (T)((U)a - (U)b));
OPF(OMin, pmin<T>(a, b, i.nan));
OPF(OMax, pmax<T>(a, b, i.nan));
struct OMul {
  template <class T>
  static T f(T a, T b, const Inst&) {
    if constexpr (std::is_integral_v<T>)
      return (T)((uint64_t)a * (uint64_t)b);
    else
      return a * b;
  }
};
struct ODivF {
  template <class T>
  static T f(T a, T b, const Inst&) {
    return a / b;
  }
};
struct ODiv {
  template <class T>
  static T f(T a, T b, const Inst&) {
    if (b == 0) return (T)~T(0);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return (T)(0 - (Uns<T>)a);
    return a / b;
  }
};
struct ORem {
  template <class T>
  static T f(T a, T b, const Inst&) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return 0;
    return a % b;
  }
};
OPF(OAnd, (T)(a& b));
OPF(OOr, (T)(a | b));
OPF(OXor, (T)(a ^ b));
struct OMulHi {
  template <class T>
  static T f(T a, T b, const Inst&) {
    if constexpr (sizeof(T) == 8) {
      if constexpr (std::is_signed_v<T>)
        return (T)(((__int128)a * b) >> 64);
      else
        return (T)(((unsigned __int128)a * b) >> 64);
    } else if constexpr (std::is_signed_v<T>)
      return (T)(((int64_t)a * b) >> (8 * sizeof(T)));
    else
      return (T)(((uint64_t)a * b) >> (8 * sizeof(T)));
  }
};

template <class Op, class T>
void xBin(Th& t, const Inst& i) {
  T a = get<T>(t, i.a), b = get<T>(t, i.b), r;
  if constexpr (std::is_floating_point_v<T>) {
    if (i.ftz) {
      a = fz(a);
      b = fz(b);
    }
    if (i.rnd == RN)
      r = Op::template f<T>(a, b, i);
    else {
      RG g(i.rnd);
      volatile T va = a, vb = b;
      volatile T vr = Op::template f<T>(va, vb, i);
      r = vr;
    }
    if (i.ftz) r = fz(r);
    if (i.sat) r = satF(r);
  } else {
    r = Op::template f<T>(a, b, i);
    if (i.sat)
      if constexpr (std::is_same_v<T, int32_t>) {
        int64_t w = std::is_same_v<Op, OAdd> ? (int64_t)a + b : (int64_t)a - b;
        r = (T)std::clamp<int64_t>(w, INT32_MIN, INT32_MAX);
      }
  }
  put<T>(t, i.d, r);
}
template <class Op>
void xBinH(Th& t, const Inst& i) {  // f16 / f16x2 / bf16 / bf16x2 through float
  uint32_t a = get<uint32_t>(t, i.a), b = get<uint32_t>(t, i.b), r = 0;
  bool bf = i.ty == BF16 || i.ty == BF16X2;
  int n = i.ty == F16X2 || i.ty == BF16X2 ? 2 : 1;
  for (int k = 0; k < n; ++k) {
    uint16_t x = a >> (16 * k), y = b >> (16 * k);
    float fx = bf ? bf2f(x) : h2f(x), fy = bf ? bf2f(y) : h2f(y);
    float fr = Op::template f<float>(fx, fy, i);
    if (i.sat) fr = satF(fr);
    r |= (uint32_t)(bf ? f2bf(fr) : f2h(fr)) << (16 * k);
  }
  if (n == 2)
    put<uint32_t>(t, i.d, r);
  else
    put<uint16_t>(t, i.d, (uint16_t)r);
}
template <class T>
void xFma(Th& t, const Inst& i) {
  T a = get<T>(t, i.a), b = get<T>(t, i.b), c = get<T>(t, i.c), r;
  if (i.ftz) {
    a = fz(a);
    b = fz(b);
    c = fz(c);
  }
  if (i.rnd == RN)
    r = std::fma(a, b, c);
  else {
    RG g(i.rnd);
    volatile T va = a, vb = b, vc = c;
    volatile T vr = std::fma(va, vb, vc);
    r = vr;
  }
  if (i.ftz) r = fz(r);
  if (i.sat) r = satF(r);
  put<T>(t, i.d, r);
}
inline void xFmaH(Th& t, const Inst& i) {
  uint32_t a = get<uint32_t>(t, i.a), b = get<uint32_t>(t, i.b), c = get<uint32_t>(t, i.c), r = 0;
  bool bf = i.ty == BF16 || i.ty == BF16X2;
  int n = i.ty == F16X2 || i.ty == BF16X2 ? 2 : 1;
  for (int k = 0; k < n; ++k) {
    uint16_t x = a >> (16 * k), y = b >> (16 * k), z = c >> (16 * k);
    auto cv = [&](uint16_t h) {
      return (double)(bf ? bf2f(h) : h2f(h));
    };
    double d = std::fma(cv(x), cv(y), cv(z));
    if (i.mode == 1 && !(d > 0)) d = std::isnan(d) ? d : 0;
    if (i.sat) d = satF(d);
    r |= (uint32_t)(bf ? f2bf((float)d) : f2h(d)) << (16 * k);
  }
  if (n == 2)
    put<uint32_t>(t, i.d, r);
  else
    put<uint16_t>(t, i.d, (uint16_t)r);
}
#define UNF(N, EXPR)                 \
  struct N {                         \
    template <class T>               \
    static T f(T a, const Inst& i) { \
      (void)i;                       \
      return EXPR;                   \
    }                                \
  }
UNF(URcp, T(1) / a);

UNF(USqrt, std::sqrt(a));
UNF(URsqrt, T(1) / std::sqrt(a));
UNF(UEx2, std::exp2(a));
UNF(ULg2, std::log2(a));

UNF(USin, std::sin(a));
UNF(UCos, std::cos(a));
UNF(UTanh, std::tanh(a));
UNF(UAbsF, std::fabs(a));

UNF(UNegF, -a);
template <class Op, class T>
void xUnF(Th& t, const Inst& i) {
  T a = get<T>(t, i.a), r;
  if (i.ftz) a = fz(a);
  if (i.rnd == RN)
    r = Op::template f<T>(a, i);
  else {
    RG g(i.rnd);
    volatile T va = a;
    volatile T vr = Op::template f<T>(va, i);
    r = vr;
  }
  if (i.ftz) r = fz(r);
  if (i.sat) r = satF(r);
  put<T>(t, i.d, r);
}
template <class Op>
void xUnH(Th& t, const Inst& i) {
  uint32_t a = get<uint32_t>(t, i.a), r = 0;
  bool bf = i.ty == BF16 || i.ty == BF16X2;
  int n = i.ty == F16X2 || i.ty == BF16X2 ? 2 : 1;
  for (int k = 0; k < n; ++k) {
    uint16_t x = a >> (16 * k);
    float f = Op::template f<float>(bf ? bf2f(x) : h2f(x), i);
    r |= (uint32_t)(bf ? f2bf(f) : f2h(f)) << (16 * k);
  }
  if (n == 2)
    put<uint32_t>(t, i.d, r);
  else
    put<uint16_t>(t, i.d, (uint16_t)r);
}
#define UNI(N, EXPR)             \
  template <class T>             \
  void N(Th& t, const Inst& i) { \
    T a = get<T>(t, i.a);        \
    (void)a;                     \
    put<T>(t, i.d, (T)(EXPR));   \
  }
UNI(xNegI, Uns<T>(0) - (Uns<T>)a);

UNI(xAbsI, a < 0 ? (Uns<T>)0 - (Uns<T>)a : (Uns<T>)a);
UNI(xNot, ~a);
template <class T>
void xPopc(Th& t, const Inst& i) {
  put<uint32_t>(t, i.d, __builtin_popcountll(get<T>(t, i.a)));
}
template <class T>
void xClz(Th& t, const Inst& i) {
  T a = get<T>(t, i.a);
  put<uint32_t>(t, i.d, a ? __builtin_clzll((uint64_t)a) - (64 - 8 * sizeof(T)) : 8 * sizeof(T));
}
template <class T>
void xBrev(Th& t, const Inst& i) {
  T a = get<T>(t, i.a), r = 0;
  for (size_t k = 0; k < 8 * sizeof(T); ++k)
    r |= ((a >> k) & T(1)) << (8 * sizeof(T) - 1 - k);
  put<T>(t, i.d, r);
}
template <class T>
void xBfind(Th& t, const Inst& i) {
  T a = get<T>(t, i.a);
  using U = Uns<T>;
  U u = (U)a;
  if (std::is_signed_v<T> && a < 0) u = ~u;
  uint32_t r = u ? 63 - __builtin_clzll((uint64_t)u) : ~0u;
  if (i.mode && r != ~0u) r = 8 * sizeof(T) - 1 - r;
  put<uint32_t>(t, i.d, r);
}
template <class T>
void xShl(Th& t, const Inst& i) {
  uint32_t s = get<uint32_t>(t, i.b);
  T a = get<T>(t, i.a);
  put<T>(t, i.d, s >= 8 * sizeof(T) ? T(0) : (T)(a << s));
}
template <class T>
void xShr(Th& t, const Inst& i) {
  uint32_t s = get<uint32_t>(t, i.b);
  T a = get<T>(t, i.a);
  if (s >= 8 * sizeof(T))
    put<T>(t, i.d, std::is_signed_v<T> && a < 0 ? T(-1) : T(0));
  else
    put<T>(t, i.d, (T)(a >> s));
}
inline void xShf(Th& t, const Inst& i) {
  uint64_t v = ((uint64_t)get<uint32_t>(t, i.b) << 32) | get<uint32_t>(t, i.a);
  uint32_t s = get<uint32_t>(t, i.c);
  s = i.mode & 1 ? std::min(s, 32u) : s & 31;
  put<uint32_t>(t, i.d, i.mode & 2 ? (uint32_t)(v >> s) : (uint32_t)((v << s) >> 32));
}
template <class T>
void xMadLo(Th& t, const Inst& i) {
  put<T>(t, i.d,
         (T)((uint64_t)get<T>(t, i.a) * (uint64_t)get<T>(t, i.b) + (uint64_t)get<T>(t, i.c)));
}
template <class T>
void xMadHi(Th& t, const Inst& i) {
  put<T>(t, i.d,
         (T)((Uns<T>)OMulHi::f<T>(get<T>(t, i.a), get<T>(t, i.b), i) + (Uns<T>)get<T>(t, i.c)));
}
template <class T, class W>
void xMulWide(Th& t, const Inst& i) {
  put<W>(t, i.d, (W)((W)get<T>(t, i.a) * (W)get<T>(t, i.b)));
}
template <class T, class W>
void xMadWide(Th& t, const Inst& i) {
  put<W>(t, i.d, (W)((Uns<W>)((W)get<T>(t, i.a) * (W)get<T>(t, i.b)) + (Uns<W>)get<W>(t, i.c)));
}
// carry chains; mode: 0 add 1 addc 2 sub 3 subc 4 mad.lo 5 mad.hi 6 madc.lo 7 madc.hi
template <class T>
void xCarry(Th& t, const Inst& i) {
  using U = Uns<T>;
  using W = unsigned __int128;
  W r;
  U a = get<U>(t, i.a), b = get<U>(t, i.b);
  const int N = 8 * sizeof(T);
  if (i.mode < 2)
    r = (W)a + b + (i.mode == 1 ? t.cc : 0);
  else if (i.mode < 4)
    r = (W)a - b - (i.mode == 3 ? t.cc : 0);
  else {
    U p = (i.mode & 1) ? (U)OMulHi::f<T>((T)a, (T)b, i) : (U)((uint64_t)a * (uint64_t)b);
    r = (W)p + get<U>(t, i.c) + (i.mode >= 6 ? t.cc : 0);
  }
  if (i.cc) t.cc = (r >> N) & 1;
  put<U>(t, i.d, (U)r);
}
template <class T>
void xBfe(Th& t, const Inst& i) {
  T a = get<T>(t, i.a);
  uint32_t pos = get<uint32_t>(t, i.b) & 255, len = get<uint32_t>(t, i.c) & 255;
  const uint32_t N = 8 * sizeof(T);
  using U = Uns<T>;
  U r = 0;
  bool s = false;
  if (std::is_signed_v<T> && len) s = ((U)a >> std::min(pos + len - 1, N - 1)) & 1;
  for (uint32_t k = 0; k < N; ++k) {
    bool bit = k < len ? (pos + k < N ? ((U)a >> (pos + k)) & 1 : s) : s;
    r |= (U)bit << k;
  }
  put<T>(t, i.d, (T)r);
}
template <class T>
void xBfi(Th& t, const Inst& i) {
  T a = get<T>(t, i.a), b = get<T>(t, i.b);
  uint32_t pos = get<uint32_t>(t, i.c) & 255, len = get<uint32_t>(t, i.e) & 255;
  for (uint32_t k = 0; k < len && pos + k < 8 * sizeof(T); ++k) {
    b &= ~(T(1) << (pos + k));
    b |= ((a >> k) & T(1)) << (pos + k);
  }
  put<T>(t, i.d, b);
}
inline void xPrmt(Th& t, const Inst& i) {
  uint64_t v = ((uint64_t)get<uint32_t>(t, i.b) << 32) | get<uint32_t>(t, i.a);
  uint32_t s = get<uint32_t>(t, i.c), r = 0;
  for (int k = 0; k < 4; ++k) {
    uint32_t q = (s >> (4 * k)) & 15;
    uint8_t by = v >> (8 * (q & 7));
    if (q & 8) by = by & 0x80 ? 0xff : 0;
    r |= (uint32_t)by << (8 * k);
  }
  put<uint32_t>(t, i.d, r);
}
inline void xLop3(Th& t, const Inst& i) {
  uint32_t a = get<uint32_t>(t, i.a), b = get<uint32_t>(t, i.b), c = get<uint32_t>(t, i.c),
           l = get<uint32_t>(t, i.e), r = 0;
  for (int k = 0; k < 8; ++k)
    if (l >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  put<uint32_t>(t, i.d, r);
}
inline void xBmsk(Th& t, const Inst& i) {
  uint32_t a = get<uint32_t>(t, i.a), b = get<uint32_t>(t, i.b);
  bool cl = i.mode;
  uint32_t a1 = a & 31, b1 = b & 31;
  uint32_t m0 = ~0u << a1, s = a1 + b1, m1 = s < 32 ? ~0u << s : 0;
  bool ov = s >= 32;
  if (cl) {
    if (a >= 32) {
      ov = true;
      m0 = 0;
    }
    if (b >= 32) ov = true;
  }
  if (ov) m1 = 0;
  put<uint32_t>(t, i.d, m0 & ~m1);
}
template <class T>
void xSzext(Th& t, const Inst& i) {
  uint32_t a = get<uint32_t>(t, i.a), n = get<uint32_t>(t, i.b);
  if (i.mode)
    n = std::min(n, 32u);
  else
    n &= 31;
  uint32_t r = n == 0                ? 0
               : n >= 32             ? a
               : std::is_signed_v<T> ? (uint32_t)((int32_t)(a << (32 - n)) >> (32 - n))
                                     : a & ((1u << n) - 1);
  put<uint32_t>(t, i.d, r);
}
inline void xDp4a(Th& t, const Inst& i) {
  uint32_t a = get<uint32_t>(t, i.a), b = get<uint32_t>(t, i.b);
  int32_t c = get<int32_t>(t, i.c);
  for (int k = 0; k < 4; ++k) {
    int x = i.ty == S32 ? (int8_t)(a >> 8 * k) : (uint8_t)(a >> 8 * k),
        y = i.ty2 == S32 ? (int8_t)(b >> 8 * k) : (uint8_t)(b >> 8 * k);
    c += x * y;
  }
  put<int32_t>(t, i.d, c);
}
template <class T>
void xSad(Th& t, const Inst& i) {
  T a = get<T>(t, i.a), b = get<T>(t, i.b);
  put<T>(t, i.d,
         (T)((Uns<T>)(a > b ? (Uns<T>)a - (Uns<T>)b : (Uns<T>)b - (Uns<T>)a) +
             (Uns<T>)get<T>(t, i.c)));
}
template <class T>
void xCopysign(Th& t, const Inst& i) {
  put<T>(t, i.d, std::copysign(get<T>(t, i.b), get<T>(t, i.a)));
}
template <class T>
void xTestp(Th& t, const Inst& i) {
  T a = get<T>(t, i.a);
  bool r = false;
  switch (i.mode) {
    case 0:
      r = std::isfinite(a);
      break;
    case 1:
      r = std::isinf(a);
      break;
    case 2:
      r = !std::isnan(a);
      break;
    case 3:
      r = std::isnan(a);
      break;
    case 4:
      r = std::isnormal(a);
      break;
    case 5:
      r = std::fpclassify(a) == FP_SUBNORMAL;
  }
  putP(t, i.d, r);
}
// predicates
inline void xPredBin(Th& t, const Inst& i) {
  bool a = getP(t, i.a), b = getP(t, i.b);
  putP(t, i.d, i.mode == 0 ? a && b : i.mode == 1 ? a || b : a != b);
}
inline void xPredNot(Th& t, const Inst& i) {
  putP(t, i.d, !getP(t, i.a));
}
inline void xPredMov(Th& t, const Inst& i) {
  putP(t, i.d, getP(t, i.a));
}
enum Cmp { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ };
template <class T>
bool cmpv(T a, T b, int c) {
  bool un = false;
  if constexpr (std::is_floating_point_v<T>) un = std::isnan(a) || std::isnan(b);
  switch (c) {
    case EQ:
      return !un && a == b;
    case NE:
      return !un && a != b;
    case LT:
      return !un && a < b;
    case LE:
      return !un && a <= b;
    case GT:
      return !un && a > b;
    case GE:
      return !un && a >= b;
    case EQU:
      return un || a == b;
    case NEU:
      return un || a != b;
    case LTU:
      return un || a < b;
    case LEU:
      return un || a <= b;
    case GTU:
      return un || a > b;
    case GEU:
      return un || a >= b;
    case NUM:
      return !un;
    default:
      return un;
  }
}
template <class T>
bool cmpI(Th& t, const Inst& i) {
  T a = get<T>(t, i.a), b = get<T>(t, i.b);
  if constexpr (std::is_same_v<T, float>)
    if (i.ftz) {
      a = fz(a);
      b = fz(b);
    }
  return cmpv<T>(a, b, i.cmp);
}
inline bool bopv(const Inst& i, bool r, bool c) {
  return i.bop == 0 ? r : i.bop == 1 ? r && c : i.bop == 2 ? r || c : r != c;
}
template <class T>
void xSetp(Th& t, const Inst& i) {
  bool r = cmpI<T>(t, i);
  bool c = i.bop ? getP(t, i.c) : false;
  putP(t, i.d, bopv(i, r, c));
  if (i.d2.k == K::REG) putP(t, i.d2, bopv(i, !r, c));
}
template <class T>
void xSet(Th& t, const Inst& i) {
  bool r = cmpI<T>(t, i);
  r = bopv(i, r, i.bop ? getP(t, i.c) : false);
  if (i.ty == F32)
    put<float>(t, i.d, r ? 1.f : 0.f);
  else if (i.ty == F16)
    put<uint16_t>(t, i.d, r ? 0x3c00 : 0);
  else
    put<uint32_t>(t, i.d, r ? ~0u : 0u);
}
inline float hval(Th& t, const Opnd& o, Ty ty) {
  uint16_t h = get<uint16_t>(t, o);
  return ty == BF16 ? bf2f(h) : h2f(h);
}
inline void xSetpH(Th& t, const Inst& i) {
  bool r = cmpv<float>(hval(t, i.a, i.ty2), hval(t, i.b, i.ty2), i.cmp);
  bool c = i.bop ? getP(t, i.c) : false;
  putP(t, i.d, bopv(i, r, c));
  if (i.d2.k == K::REG) putP(t, i.d2, bopv(i, !r, c));
}
template <class T>
void xSelp(Th& t, const Inst& i) {
  put<T>(t, i.d, getP(t, i.c) ? get<T>(t, i.a) : get<T>(t, i.b));
}
template <class T>
void xSlct(Th& t, const Inst& i) {
  bool ge = i.ty2 == F32 ? get<float>(t, i.c) >= 0 : get<int32_t>(t, i.c) >= 0;
  put<T>(t, i.d, ge ? get<T>(t, i.a) : get<T>(t, i.b));
}
// moves
template <class T>
void xMov(Th& t, const Inst& i) {
  put<T>(t, i.d, get<T>(t, i.a));
}
inline void xMovAny(Th& t, const Inst& i) {
  put<uint64_t>(t, i.d, getAny(t, i.a));
}
inline void xPack(Th& t, const Inst& i) {
  int w = tySize(i.ty) * 8 / (int)i.v.size();
  uint64_t r = 0, m = w == 64 ? ~0ull : (1ull << w) - 1;
  for (size_t k = 0; k < i.v.size(); ++k)
    r |= (get<uint64_t>(t, i.v[k]) & m) << (w * k);
  put<uint64_t>(t, i.d, r);
}
inline void xUnpack(Th& t, const Inst& i) {
  int w = tySize(i.ty) * 8 / (int)i.v.size();
  uint64_t r = get<uint64_t>(t, i.a), m = w == 64 ? ~0ull : (1ull << w) - 1;
  for (size_t k = 0; k < i.v.size(); ++k)
    put<uint64_t>(t, i.v[k], (r >> (w * k)) & m);
}
extern uint64_t (*g_clock)();
inline void xClock(Th& t, const Inst& i) {
  put<uint64_t>(t, i.d, i.mode == 1 ? g_clock() : g_stats.insts);
}
inline void xCvtaTo(Th& t, const Inst& i) {
  uint64_t a = getAny(t, i.a);
  if (i.sp == SHARED)
    a -= (uintptr_t)t.blk->sh.data();
  else if (i.sp == LOCAL)
    a -= (uintptr_t)t.local;
  put<uint64_t>(t, i.d, a);
}
inline void xCvta(Th& t, const Inst& i) {
  uint64_t a = getAny(t, i.a);
  if (i.sp == SHARED)
    a += (uintptr_t)t.blk->sh.data();
  else if (i.sp == LOCAL)
    a += (uintptr_t)t.local;
  put<uint64_t>(t, i.d, a);
}
inline void xIsspacep(Th& t, const Inst& i) {
  uint64_t a = getAny(t, i.a);
  uintptr_t s = (uintptr_t)t.blk->sh.data(), l = (uintptr_t)t.local;
  bool sh = a >= s && a < s + t.blk->sh.size(), lo = l && a >= l && a < l + LOCSZ;
  putP(t, i.d, i.sp == SHARED ? sh : i.sp == LOCAL ? lo : i.sp == GLOBAL ? !sh && !lo : false);
}
// loads and stores
template <class T>
void xLd(Th& t, const Inst& i) {
  const uint8_t* p = mem(t, i.sp, addrOf(t, i.a), sizeof(T), sizeof(T));
  T x;
  std::memcpy(&x, p, sizeof(T));
  put<T>(t, i.d, x);
}
template <class T>
void xLdV(Th& t, const Inst& i) {
  uint32_t n = i.v.size();
  const uint8_t* p = mem(t, i.sp, addrOf(t, i.a), n * sizeof(T), n * sizeof(T));
  for (uint32_t k = 0; k < n; ++k) {
    T x;
    std::memcpy(&x, p + k * sizeof(T), sizeof(T));
    put<T>(t, i.v[k], x);
  }
}
template <class T>
void xSt(Th& t, const Inst& i) {
  T x = get<T>(t, i.b);
  std::memcpy(mem(t, i.sp, addrOf(t, i.a), sizeof(T), sizeof(T)), &x, sizeof(T));
}
template <class T>
void xStV(Th& t, const Inst& i) {
  uint32_t n = i.v.size();
  uint8_t* p = mem(t, i.sp, addrOf(t, i.a), n * sizeof(T), n * sizeof(T));
  for (uint32_t k = 0; k < n; ++k) {
    T x = get<T>(t, i.v[k]);
    std::memcpy(p + k * sizeof(T), &x, sizeof(T));
  }
}
// cp.async: the source is read immediately, the destination is written by a wait (or at the end of
// the thread).
inline void xCpAsync(Th& t, const Inst& i) {
  uint32_t n = i.b.imm, src = i.c.k == K::NIL ? n : std::min<uint32_t>(n, get<uint32_t>(t, i.c));
  if (n != 4 && n != 8 && n != 16) throw SimError(E_PTX, "cp.async size");
  CpItem it{mem(t, SHARED, addrOf(t, i.d), n, n), {}, (uint8_t)n, 0};
  if (src) std::memcpy(it.data, mem(t, GLOBAL, addrOf(t, i.a), src, n), src);
  t.cp.push_back(it);
}
inline void xCpCommit(Th& t, const Inst&) {
  ++t.cpGroup;
  for (CpItem& c : t.cp)
    if (!c.group) c.group = t.cpGroup;
}
// keep: number of newest groups that may stay pending; -1: finish everything, committed or not.
inline void cpFinish(Th& t, int64_t keep) {
  std::vector<CpItem> left;
  for (CpItem& c : t.cp)
    if (keep < 0 || (c.group && (int64_t)c.group + keep <= (int64_t)t.cpGroup))
      std::memcpy(c.dst, c.data, c.n);
    else
      left.push_back(c);
  t.cp.swap(left);
}
inline void xCpWait(Th& t, const Inst& i) {
  cpFinish(t, i.mode ? -1 : (int64_t)get<uint32_t>(t, i.a));
}
// red and atom on vectors
inline void xAtomV(Th& t, const Inst& i) {
  const bool pair = i.ty == F16X2 || i.ty == BF16X2, bf = i.ty == BF16 || i.ty == BF16X2,
             f32 = i.ty == F32;
  const uint32_t es = f32 || pair ? 4 : 2, n = i.n;
  uint8_t* p = mem(t, i.sp, addrOf(t, i.a), es * n, es * n);
  for (uint32_t k = 0; k < n; ++k) {
    uint32_t o = 0, b = get<uint32_t>(t, i.v[k]), r = 0;
    std::memcpy(&o, p + k * es, es);
    if (f32) {
      float x, y;
      std::memcpy(&x, &o, 4);
      std::memcpy(&y, &b, 4);
      x += y;
      std::memcpy(&r, &x, 4);
    } else {
      for (int q = 0; q < (pair ? 2 : 1); ++q) {
        uint16_t x = o >> 16 * q, y = b >> 16 * q;
        float f = bf ? bf2f(x) + bf2f(y) : h2f(x) + h2f(y);
        r |= (uint32_t)(bf ? f2bf(f) : f2h(f)) << 16 * q;
      }
    }
    std::memcpy(p + k * es, &r, es);
    if (i.v.size() > n) put<uint32_t>(t, i.v[n + k], o);
  }
}
inline float toTf32(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  if ((u & 0x7f800000u) != 0x7f800000u) u = (u + 0x1000u) & ~0x1fffu;
  std::memcpy(&f, &u, 4);
  return f;
}
inline void xCvtTf32(Th& t, const Inst& i) {
  put<float>(t, i.d, toTf32(get<float>(t, i.a)));
}
inline void xZero(Th& t, const Inst& i) {
  put<uint64_t>(t, i.d, 0);
}
// atomics (the interpreter is single-threaded, so plain read-modify-write)
enum Aop { AADD, AMIN, AMAX, AAND, AOR, AXOR, AEXCH, ACAS, AINC, ADEC };
template <class T>
void xAtom(Th& t, const Inst& i) {
  uint8_t* p = mem(t, i.sp, addrOf(t, i.a), sizeof(T), sizeof(T));
  T o, r;
  std::memcpy(&o, p, sizeof(T));
  T b = get<T>(t, i.b);
  switch (i.mode) {
    case AADD:
      if constexpr (std::is_integral_v<T>)
        r = (T)((Uns<T>)o + (Uns<T>)b);
      else
        r = o + b;
      break;
    case AMIN:
      r = o < b ? o : b;
      break;
    case AMAX:
      r = o > b ? o : b;
      break;
    case AEXCH:
      r = b;
      break;
    default:
      if constexpr (std::is_integral_v<T>) {
        switch (i.mode) {
          case AAND:
            r = o & b;
            break;
          case AOR:
            r = o | b;
            break;
          case AXOR:
            r = o ^ b;
            break;
          case AINC:
            r = o >= b ? 0 : o + 1;
            break;
          case ADEC:
            r = (o == 0 || o > b) ? b : o - 1;
            break;
          default:
            r = o == b ? get<T>(t, i.c) : o;
        }
      } else
        r = o;
  }
  std::memcpy(p, &r, sizeof(T));
  put<T>(t, i.d, o);
}
inline void xAtomH(Th& t, const Inst& i) {
  int n = i.ty == F16X2 || i.ty == BF16X2 ? 2 : 1;
  bool bf = i.ty == BF16 || i.ty == BF16X2;
  uint8_t* p = mem(t, i.sp, addrOf(t, i.a), 2 * n, 2 * n);
  uint32_t o = 0, b = get<uint32_t>(t, i.b), r = 0;
  std::memcpy(&o, p, 2 * n);
  for (int k = 0; k < n; ++k) {
    uint16_t x = o >> 16 * k, y = b >> 16 * k;
    float f = bf ? bf2f(x) + bf2f(y) : h2f(x) + h2f(y);
    r |= (uint32_t)(bf ? f2bf(f) : f2h(f)) << 16 * k;
  }
  std::memcpy(p, &r, 2 * n);
  put<uint32_t>(t, i.d, o);
}
// conversions
inline void xCvt(Th& t, const Inst& i) {
  Ty s = i.ty2, d = i.ty;
  bool sf = isF(s);
  double f = 0;
  __int128 v = 0;
  switch (s) {
    case F32: {
      float x = get<float>(t, i.a);
      if (i.ftz) x = fz(x);
      f = x;
      break;
    }
    case F64:
      f = get<double>(t, i.a);
      break;
    case F16:
      f = h2f(get<uint16_t>(t, i.a));
      break;
    case BF16:
      f = bf2f(get<uint16_t>(t, i.a));
      break;
    case S8:
      v = get<int8_t>(t, i.a);
      break;
    case S16:
      v = get<int16_t>(t, i.a);
      break;
    case S32:
      v = get<int32_t>(t, i.a);
      break;
    case S64:
      v = get<int64_t>(t, i.a);
      break;
    case U8:
    case B8:
      v = get<uint8_t>(t, i.a);
      break;
    case U16:
    case B16:
      v = get<uint16_t>(t, i.a);
      break;
    case U32:
    case B32:
      v = get<uint32_t>(t, i.a);
      break;
    default:
      v = get<uint64_t>(t, i.a);
  }
  if (sf) {
    switch (i.rnd) {
      case RNI:
        f = std::nearbyint(f);
        break;
      case RZI:
        f = std::trunc(f);
        break;
      case RMI:
        f = std::floor(f);
        break;
      case RPI:
        f = std::ceil(f);
        break;
      default:
        break;
    }
  }
  if (isF(d)) {
    if (i.sat && sf) f = satF(f);
    if (d == F64) {
      double r;
      if (sf)
        r = f;
      else if (i.rnd == RN)
        r = s == U64 ? (double)(uint64_t)v : (double)(int64_t)v;
      else {
        RG g(i.rnd);
        volatile uint64_t u = (uint64_t)v;
        volatile int64_t q = (int64_t)v;
        volatile double w = s == U64 ? (double)u : (double)q;
        r = w;
      }
      put<double>(t, i.d, r);
    } else if (d == F32) {
      float r;
      if (i.rnd >= RZ && i.rnd <= RP) {
        RG g(i.rnd);
        volatile double vf = f;
        volatile uint64_t u = (uint64_t)v;
        volatile int64_t q = (int64_t)v;
        volatile float w = sf ? (float)vf : s == U64 ? (float)u : (float)q;
        r = w;
      } else
        r = sf ? (float)f : s == U64 ? (float)(uint64_t)v : (float)(int64_t)v;
      if (i.ftz) r = fz(r);
      put<float>(t, i.d, r);
    } else if (d == F16) {
      double x = sf ? f : (double)v;
      uint16_t h = f2h(x);
      if (i.rnd == RZ || i.rnd == RM || i.rnd == RP) {
        double back = h2f(h);
        bool up = back > x, dn = back < x;
        if ((i.rnd == RZ && std::fabs(back) > std::fabs(x)))
          h--;
        else if (i.rnd == RM && up)
          h = (h & 0x8000) ? h + 1 : h == 0 ? 0x8001 : h - 1;
        else if (i.rnd == RP && dn)
          h = (h & 0x8000) ? h - 1 : h + 1;
      }
      if (i.mode && !(x > 0)) h = 0;
      put<uint16_t>(t, i.d, h);
    } else if (d == BF16) {
      float x = sf ? (float)f : (float)(int64_t)v;
      uint16_t h = f2bf(x);
      if (i.rnd == RZ) {
        uint32_t u;
        std::memcpy(&u, &x, 4);
        h = u >> 16;
      }
      put<uint16_t>(t, i.d, h);
    } else {
      float y = get<float>(t, i.b);
      float x = (float)f;
      auto cv = [&](float q) -> uint32_t {
        if (i.mode && !(q > 0)) q = 0;
        return d == F16X2 ? f2h(q) : f2bf(q);
      };
      put<uint32_t>(t, i.d, (cv(x) << 16) | cv(y));
    }
    return;
  }
  int bits = tySize(d) * 8;
  bool ds = isS(d);
  __int128 lo = ds ? -((__int128)1 << (bits - 1)) : 0,
           hi = ds ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1;
  if (sf) {
    if (std::isnan(f))
      v = (bits == 64) ? (__int128)((uint64_t)1 << 63) : 0;
    else if (f <= (double)lo)
      v = lo;
    else if (f >= (double)hi)
      v = hi;
    else
      v = (__int128)std::trunc(f);
  } else if (i.sat)
    v = v < lo ? lo : v > hi ? hi : v;
  switch (d) {
    case S8:
      put<int8_t>(t, i.d, (int8_t)v);
      break;
    case S16:
      put<int16_t>(t, i.d, (int16_t)v);
      break;
    case S32:
      put<int32_t>(t, i.d, (int32_t)v);
      break;
    case S64:
      put<int64_t>(t, i.d, (int64_t)v);
      break;
    case U8:
    case B8:
      put<uint8_t>(t, i.d, (uint8_t)v);
      break;
    case U16:
    case B16:
      put<uint16_t>(t, i.d, (uint16_t)v);
      break;
    case U32:
    case B32:
      put<uint32_t>(t, i.d, (uint32_t)v);
      break;
    default:
      put<uint64_t>(t, i.d, (uint64_t)v);
  }
}
// control
inline void xBra(Th& t, const Inst& i) {
  t.pc = i.target;
}
inline void xBrx(Th& t, const Inst& i) {
  uint32_t k = get<uint32_t>(t, i.a);
  if (k >= i.targets.size()) fault(E_LAUNCH, "brx.idx index %llu out of range", k);
  t.pc = i.targets[k];
}
inline void xNop(Th&, const Inst&) {}
inline void xYield(Th& t, const Inst&) {
  t.yield = true;
}
inline void xTrap(Th&, const Inst&) {
  throw SimError(E_LAUNCH, "trap instruction executed");
}
inline void xUnsup(Th&, const Inst&) {
  throw SimError(E_PTX, "PTX instruction not supported by the simulator");
}
inline void xExit(Th& t, const Inst&) {
  cpFinish(t, -1);
  t.st = EXITED;
}
void xCall(Th& t, const Inst& i);
void xRet(Th& t, const Inst& i);
inline void xBar(Th& t, const Inst& i) {
  t.st = BARWAIT;
  t.wi = &i;
  t.barId = get<uint32_t>(t, i.a) & 15;
  t.barPred = i.mode ? getP(t, i.c) : false;
}
inline void xWarp(Th& t, const Inst& i) {
  t.st = WARPWAIT;
  t.wi = &i;
  t.wmask = get<uint32_t>(t, i.e);
  if (!(t.wmask >> t.lane & 1))
    throw SimError(E_LAUNCH,
                   "warp-sync instruction executed by a lane that is not in its member mask");
}
// Waits until no other lane of the warp can still arrive here; see resolveActive.
inline void xActive(Th& t, const Inst& i) {
  t.st = ACTIVEWAIT;
  t.wi = &i;
  t.waited = 0;
}
inline uint64_t rawMask(Th& o, const Inst& i) {
  uint64_t v = get<uint64_t>(o, i.a);
  return tySize(i.ty) == 4 ? (uint32_t)v : v;
}
enum Wop {
  W_BAR,
  W_SHFL_UP,
  W_SHFL_DOWN,
  W_SHFL_BFLY,
  W_SHFL_IDX,
  W_ALL,
  W_ANY,
  W_UNI,
  W_BALLOT,
  W_MATCH_ANY,
  W_MATCH_ALL,
  W_REDUX,
  W_ELECT,
  W_MMA,
  W_WLOAD,
  W_WSTORE,
  W_WMMA,
  W_LDM,
  W_STM
};
// Element types of the matrix instructions.
enum Elem { E_NONE, E_F16, E_BF16, E_TF32, E_F32, E_F64 };
int elemOf(const std::string& s);
void warpMatrix(Block& b, const Inst& I, uint32_t w0, uint32_t part);
void warpResolve(Block& b, Th& t);
}  // namespace cudasim
