// Decodes the text of an instruction into the function that executes it.
#include "ptx_parser.hpp"
namespace cudasim {
int keyOf(const std::string& s) {
  static std::unordered_map<std::string, int> m;
  auto it = m.find(s);
  if (it != m.end()) return it->second;
  int k = (int)m.size() + 1;
  m[s] = k;
  return k;
}

#define PICK_I(FN, ty)                      \
  (ty == U16 || ty == B16   ? &FN<uint16_t> \
   : ty == S16              ? &FN<int16_t>  \
   : ty == U32 || ty == B32 ? &FN<uint32_t> \
   : ty == S32              ? &FN<int32_t>  \
   : ty == U64 || ty == B64 ? &FN<uint64_t> \
   : ty == S64              ? &FN<int64_t>  \
                            : (Fn) nullptr)
template <class Op>
static Fn binI(Ty t) {
  switch (t) {
    case B16:
    case U16:
      return xBin<Op, uint16_t>;
    case S16:
      return xBin<Op, int16_t>;
    case B32:
    case U32:
      return xBin<Op, uint32_t>;
    case S32:
      return xBin<Op, int32_t>;
    case B64:
    case U64:
      return xBin<Op, uint64_t>;
    case S64:
      return xBin<Op, int64_t>;
    default:
      return nullptr;
  }
}
template <class Op>
static Fn binF(Ty t) {
  switch (t) {
    case F32:
      return xBin<Op, float>;
    case F64:
      return xBin<Op, double>;
    case F16:
    case F16X2:
    case BF16:
    case BF16X2:
      return xBinH<Op>;
    default:
      return nullptr;
  }
}
template <class Op>
static Fn unF(Ty t) {
  switch (t) {
    case F32:
      return xUnF<Op, float>;
    case F64:
      return xUnF<Op, double>;
    case F16:
    case F16X2:
    case BF16:
    case BF16X2:
      return xUnH<Op>;
    default:
      return nullptr;
  }
}
#define BYSIZE(FN, ty)                   \
  (tySize(ty) == 1   ? (Fn)&FN<uint8_t>  \
   : tySize(ty) == 2 ? (Fn)&FN<uint16_t> \
   : tySize(ty) == 4 ? (Fn)&FN<uint32_t> \
                     : (Fn)&FN<uint64_t>)
static Fn ldFn(Ty t, bool v) {
  switch (t) {
    case S8:
      return v ? xLdV<int8_t> : xLd<int8_t>;
    case S16:
      return v ? xLdV<int16_t> : xLd<int16_t>;
    case S32:
      return v ? xLdV<int32_t> : xLd<int32_t>;
    case S64:
      return v ? xLdV<int64_t> : xLd<int64_t>;
    default:
      return v ? BYSIZE(xLdV, t) : BYSIZE(xLd, t);
  }
}

// mma, wmma.load, wmma.mma, wmma.store, ldmatrix, stmatrix
void Parser::decodeMatrix(Inst& i, const std::vector<std::string>& w, std::vector<PO>& a) {
  auto mm = std::make_unique<MmaInfo>();
  MmaInfo& q = *mm;
  std::vector<int> types;
  std::vector<char> rc;
  bool load = false, store = false, sync = false;
  for (size_t k = 1; k < w.size(); ++k) {
    const std::string& s = w[k];
    if (int e = elemOf(s)) types.push_back(e);
    if (s == "row" || s == "col") rc.push_back(s[0]);
    if (s == "sync") sync = true;
    if (s == "load") load = true;
    if (s == "store") store = true;
    if (s == "trans") q.trans = true;
    if (s == "x1" || s == "x2" || s == "x4") q.count = s[1] - '0';
    if (s.size() == 1 && s[0] >= 'a' && s[0] <= 'd') q.frag = s[0];
    int m = 0, n = 0, kk = 0;
    if (std::sscanf(s.c_str(), "m%dn%dk%d", &m, &n, &kk) == 3) q.m = m, q.n = n, q.k = kk;
  }
  auto list = [&](const PO& o, std::vector<Opnd>& v) {
    if (o.k != PO::VEC) {
      v.push_back(cv(o));
      return;
    }
    for (auto& x : o.v)
      v.push_back(cv(x));
  };
  auto no = [&] {
    throw SimError(E_PTX, "unsupported matrix instruction");
  };
  if (!sync) no();
  i.e.k = K::IMM;
  i.e.imm = 0xffffffffu;
  i.fn = xWarp;
  if (w[0] == "ldmatrix" || w[0] == "stmatrix") {
    bool st = w[0][0] == 's';
    for (auto& s : w)
      if (s == "b8" || s == "m8n16" || s == "m16n16" || s == "m16n8") no();
    i.mode = st ? W_STM : W_LDM;
    i.sp = SHARED;
    q.addr = cv(a[st ? 0 : 1]);
    list(a[st ? 1 : 0], q.d);
    if ((int)q.d.size() != q.count) no();
  } else if (load || store) {
    i.mode = load ? W_WLOAD : W_WSTORE;
    q.addr = cv(a[load ? 1 : 0]);
    list(a[load ? 0 : 1], q.d);
    if (a.size() > 2) {
      q.stride = cv(a[2]);
      q.hasStride = true;
    }
    if (types.size() != 1 || rc.size() != 1 || !q.frag) no();
    q.ta = types[0];
    q.rowA = rc[0] == 'r';
  } else {
    bool w2 = w[0] == "wmma";
    i.mode = w2 ? W_WMMA : W_MMA;
    if (rc.size() != 2 || a.size() < 4) no();
    q.rowA = rc[0] == 'r';
    q.rowB = rc[1] == 'r';
    if (types.size() == 2 && w2) types = {types[0], E_F16, E_F16, types[1]};
    if (types.size() != 4 || types[1] != types[2]) no();
    q.td = types[0];
    q.ta = types[1];
    q.tc = types[3];
    list(a[0], q.d);
    list(a[1], q.a);
    list(a[2], q.b);
    list(a[3], q.c);
    if (!w2) {
      bool h = q.ta == E_F16 || q.ta == E_BF16,
           acc = q.td == E_F32 || (q.td == E_F16 && q.ta == E_F16);
      bool shape = q.m == 16 && q.n == 8 &&
                   ((h && (q.k == 8 || q.k == 16)) || (q.ta == E_TF32 && (q.k == 4 || q.k == 8)));
      bool f64 = q.ta == E_F64 && q.td == E_F64 && q.m == 8 && q.n == 8 && q.k == 4;
      if (!(f64 || (shape && acc)) || q.td != q.tc || !q.rowA || q.rowB) no();
    }
  }
  i.mma = std::move(mm);
}
void Parser::decode(Inst& i, const std::string& opText, std::vector<PO>& a) {
  std::vector<std::string> m_;
  {
    size_t b = 0;
    for (size_t k = 0; k <= opText.size(); ++k)
      if (k == opText.size() || opText[k] == '.') {
        m_.push_back(opText.substr(b, k - b));
        b = k + 1;
      }
  }
  const std::string op = m_[0];
  std::vector<Ty> ty;
  std::set<std::string> mods;
  i.sp = GENERIC;
  int vecn = 1;
  for (size_t k = 1; k < m_.size(); ++k) {
    const std::string& s = m_[k];
    Ty t = parseTy(s);
    if (t != NONE) {
      ty.push_back(t);
      continue;
    }
    mods.insert(s);
    if (s == "ftz")
      i.ftz = true;
    else if (s == "sat")
      i.sat = true;
    else if (s == "NaN")
      i.nan = true;
    else if (s == "cc")
      i.cc = true;
    else if (s == "hi")
      i.hi = true;
    else if (s == "rn")
      i.rnd = RN;
    else if (s == "rz")
      i.rnd = RZ;
    else if (s == "rm")
      i.rnd = RM;
    else if (s == "rp")
      i.rnd = RP;
    else if (s == "rni")
      i.rnd = RNI;
    else if (s == "rzi")
      i.rnd = RZI;
    else if (s == "rmi")
      i.rnd = RMI;
    else if (s == "rpi")
      i.rnd = RPI;
    else if (s == "rna")
      i.rnd = RN;
    else if (s == "v2")
      vecn = 2;
    else if (s == "v4")
      vecn = 4;
    else if (s == "v8")
      vecn = 8;
    else if (s == "global")
      i.sp = GLOBAL;
    else if (s == "shared" || s == "shared::cta" || s == "shared::cluster")
      i.sp = SHARED;
    else if (s == "local")
      i.sp = LOCAL;
    else if (s == "const")
      i.sp = CONST_;
    else if (s == "param" || s == "param::entry" || s == "param::func")
      i.sp = PARAM;
  }
  auto has = [&](const char* s) {
    return mods.count(s) > 0;
  };
  Ty t = ty.empty() ? NONE : ty.back();
  i.ty = ty.empty() ? NONE : ty[0];
  i.ty2 = ty.size() > 1 ? ty[1] : i.ty;
  i.key = keyOf(opText);
  i.n = vecn;
  auto fail = [&]() {
    throw SimError(E_PTX, "unsupported form " + opText);
  };
  auto set = [&](Fn fn) {
    if (!fn) fail();
    i.fn = fn;
  };
  auto ops = [&](int n) {
    if ((int)a.size() < n) fail();
    i.d = cv(a[0], t);
    if (!a[0].pair.empty()) i.d2 = cv(a[0].pair[0]);
    if (n > 1) i.a = cv(a[1], t);
    if (n > 2) i.b = cv(a[2], t);
    if (n > 3) i.c = cv(a[3], t);
    if (n > 4) i.e = cv(a[4], t);
  };
  bool fl = isF(t);
  if (op == "add" || op == "sub" || op == "addc" || op == "subc") {
    ops(3);
    bool c = op.size() == 4;
    if (i.cc || c) {
      i.mode = (op[0] == 'a' ? 0 : 2) + c;
      set(PICK_I(xCarry, t));
    } else if (op == "add")
      set(fl ? binF<OAdd>(t) : binI<OAdd>(t));
    else
      set(fl ? binF<OSub>(t) : binI<OSub>(t));
    return;
  }
  if (op == "mul") {
    ops(3);
    if (fl)
      set(binF<OMul>(t));
    else if (has("wide"))
      set(t == U16   ? (Fn)xMulWide<uint16_t, uint32_t>
          : t == S16 ? (Fn)xMulWide<int16_t, int32_t>
          : t == U32 ? (Fn)xMulWide<uint32_t, uint64_t>
          : t == S32 ? (Fn)xMulWide<int32_t, int64_t>
                     : nullptr);
    else if (i.hi)
      set(binI<OMulHi>(t));
    else
      set(binI<OMul>(t));
    i.sat = i.sat && fl;
    return;
  }
  if (op == "mul24") {
    ops(3);
    set(binI<OMul>(t));
    return;
  }
  if (op == "mad" || op == "fma" || op == "madc") {
    ops(4);
    if (fl) {
      i.mode = has("relu");
      set(t == F32 ? (Fn)xFma<float> : t == F64 ? (Fn)xFma<double> : (Fn)xFmaH);
    } else if (op == "madc" || i.cc) {
      i.mode = (op == "madc" ? 6 : 4) + i.hi;
      set(PICK_I(xCarry, t));
    } else if (has("wide"))
      set(t == U16   ? (Fn)xMadWide<uint16_t, uint32_t>
          : t == S16 ? (Fn)xMadWide<int16_t, int32_t>
          : t == U32 ? (Fn)xMadWide<uint32_t, uint64_t>
          : t == S32 ? (Fn)xMadWide<int32_t, int64_t>
                     : nullptr);
    else if (i.hi)
      set(PICK_I(xMadHi, t));
    else
      set(PICK_I(xMadLo, t));
    return;
  }
  if (op == "div") {
    ops(3);
    set(fl ? binF<ODivF>(t) : binI<ODiv>(t));
    return;
  }
  if (op == "rem") {
    ops(3);
    set(binI<ORem>(t));
    return;
  }
  if (op == "min") {
    ops(3);
    set(fl ? binF<OMin>(t) : binI<OMin>(t));
    return;
  }
  if (op == "max") {
    ops(3);
    set(fl ? binF<OMax>(t) : binI<OMax>(t));
    return;
  }
  if (op == "and" || op == "or" || op == "xor") {
    ops(3);
    if (t == PRED) {
      i.mode = op == "and" ? 0 : op == "or" ? 1 : 2;
      i.fn = xPredBin;
    } else
      set(op == "and" ? binI<OAnd>(t) : op == "or" ? binI<OOr>(t) : binI<OXor>(t));
    return;
  }
  if (op == "not") {
    ops(2);
    if (t == PRED)
      i.fn = xPredNot;
    else
      set(PICK_I(xNot, t));
    return;
  }
  if (op == "cnot") fail();
  if (op == "neg") {
    ops(2);
    set(fl ? unF<UNegF>(t) : PICK_I(xNegI, t));
    return;
  }
  if (op == "abs") {
    ops(2);
    set(fl ? unF<UAbsF>(t) : PICK_I(xAbsI, t));
    return;
  }
  if (op == "rcp") {
    ops(2);
    set(unF<URcp>(t));
    return;
  }
  if (op == "sqrt") {
    ops(2);
    set(unF<USqrt>(t));
    return;
  }
  if (op == "rsqrt") {
    ops(2);
    set(unF<URsqrt>(t));
    return;
  }
  if (op == "ex2") {
    ops(2);
    set(unF<UEx2>(t));
    return;
  }
  if (op == "lg2") {
    ops(2);
    set(unF<ULg2>(t));
    return;
  }
  if (op == "sin") {
    ops(2);
    set(unF<USin>(t));
    return;
  }
  if (op == "cos") {
    ops(2);
    set(unF<UCos>(t));
    return;
  }
  if (op == "tanh") {
    ops(2);
    set(unF<UTanh>(t));
    return;
  }
  if (op == "copysign") {
    ops(3);
    set(t == F32 ? (Fn)xCopysign<float> : (Fn)xCopysign<double>);
    return;
  }
  if (op == "testp") {
    ops(2);
    i.mode = has("finite")       ? 0
             : has("infinite")   ? 1
             : has("number")     ? 2
             : has("notanumber") ? 3
             : has("normal")     ? 4
                                 : 5;
    set(t == F32 ? (Fn)xTestp<float> : (Fn)xTestp<double>);
    return;
  }
  if (op == "shl") {
    ops(3);
    i.b = cv(a[2]);
    set(BYSIZE(xShl, t));
    return;
  }
  if (op == "shr") {
    ops(3);
    i.b = cv(a[2]);
    set(PICK_I(xShr, t));
    return;
  }
  if (op == "shf") {
    ops(4);
    i.mode = (has("clamp") ? 1 : 0) | (has("r") ? 2 : 0);
    i.fn = xShf;
    return;
  }
  if (op == "popc") {
    ops(2);
    set(BYSIZE(xPopc, t));
    return;
  }
  if (op == "clz") {
    ops(2);
    set(BYSIZE(xClz, t));
    return;
  }
  if (op == "brev") {
    ops(2);
    set(BYSIZE(xBrev, t));
    return;
  }
  if (op == "bfind") {
    ops(2);
    i.mode = has("shiftamt");
    set(PICK_I(xBfind, t));
    return;
  }
  if (op == "bfe") {
    ops(4);
    set(PICK_I(xBfe, t));
    return;
  }
  if (op == "bfi") {
    ops(5);
    set(tySize(t) == 8 ? (Fn)xBfi<uint64_t> : (Fn)xBfi<uint32_t>);
    return;
  }
  if (op == "prmt") {
    ops(4);
    if (has("f4e") || has("b4e") || has("rc8") || has("ecl") || has("ecr") || has("rc16")) fail();
    i.fn = xPrmt;
    return;
  }
  if (op == "lop3") {
    ops(5);
    i.fn = xLop3;
    return;
  }
  if (op == "bmsk") {
    ops(3);
    i.mode = has("clamp");
    i.fn = xBmsk;
    return;
  }
  if (op == "szext") {
    ops(3);
    i.mode = has("clamp");
    i.fn = t == S32 ? (Fn)xSzext<int32_t> : (Fn)xSzext<uint32_t>;
    return;
  }
  if (op == "dp4a") {
    ops(4);
    i.fn = xDp4a;
    return;
  }
  if (op == "sad") {
    ops(4);
    set(PICK_I(xSad, t));
    return;
  }
  static const std::unordered_map<std::string, int> cm = {
      {"eq", EQ},   {"ne", NE},   {"lt", LT},   {"le", LE},   {"gt", GT},   {"ge", GE},
      {"lo", LT},   {"ls", LE},   {"hs", GE},   {"equ", EQU}, {"neu", NEU}, {"ltu", LTU},
      {"leu", LEU}, {"gtu", GTU}, {"geu", GEU}, {"num", NUM}, {"nan", NAN_}};
  if (op == "setp" || op == "set") {
    bool got = false;
    for (size_t k = 1; k < m_.size(); ++k) {
      auto it = cm.find(m_[k]);
      if (it != cm.end()) {
        i.cmp = it->second;
        got = true;
        break;
      }
      if (m_[k] == "hi") {
        i.cmp = GT;
        got = true;
        break;
      }
    }
    if (!got) fail();
    i.bop = has("and") ? 1 : has("or") ? 2 : has("xor") ? 3 : 0;
    ops(3);
    if (i.bop) i.c = cv(a[3]);
    i.ty2 = t;
    if (op == "setp") {
      switch (t) {
        case F32:
          i.fn = xSetp<float>;
          break;
        case F64:
          i.fn = xSetp<double>;
          break;
        case F16:
        case BF16:
          i.fn = xSetpH;
          break;
        default:
          set(PICK_I(xSetp, t));
      }
    } else {
      switch (t) {
        case F32:
          i.fn = xSet<float>;
          break;
        case F64:
          i.fn = xSet<double>;
          break;
        case F16:
        case BF16:
        case F16X2:
        case BF16X2:
          fail();
          break;
        default:
          set(PICK_I(xSet, t));
      }
    }
    return;
  }
  if (op == "selp") {
    ops(4);
    i.c = cv(a[3]);
    if (t == PRED) fail();
    set(BYSIZE(xSelp, t));
    return;
  }
  if (op == "slct") {
    ops(4);
    t = i.ty;
    i.c = cv(a[3], i.ty2);
    set(BYSIZE(xSlct, t));
    return;
  }
  if (op == "mov") {
    if (a.size() < 2) fail();
    if (a[0].k == PO::VEC) {
      for (auto& q : a[0].v)
        i.v.push_back(cv(q));
      i.a = cv(a[1]);
      i.fn = xUnpack;
      return;
    }
    if (a[1].k == PO::VEC) {
      i.d = cv(a[0]);
      for (auto& q : a[1].v)
        i.v.push_back(cv(q));
      i.fn = xPack;
      return;
    }
    i.d = cv(a[0]);
    if (a[1].k == PO::ID && (a[1].s == "%clock" || a[1].s == "%clock64" || a[1].s == "%clock_hi" ||
                             a[1].s == "%globaltimer" || a[1].s == "%globaltimer_lo")) {
      i.mode = a[1].s[1] == 'g';
      i.fn = xClock;
      return;
    }
    i.a = cv(a[1], t);
    if (t == PRED) {
      i.fn = xPredMov;
      return;
    }
    if (i.a.k >= K::LOC) {
      i.fn = xMovAny;
      return;
    }
    set(BYSIZE(xMov, t));
    return;
  }
  if (op == "cvt" && has("tf32")) {
    ops(2);
    i.a = cv(a[1], F32);
    i.fn = xCvtTf32;
    return;
  }
  if (op == "createpolicy") {
    i.d = cv(a[0]);
    i.fn = xZero;
    return;
  }
  if (op == "mma" || op == "wmma" || op == "ldmatrix" || op == "stmatrix") {
    decodeMatrix(i, m_, a);
    return;
  }
  if (op == "cvt") {
    if (ty.size() < 2) fail();
    ops(2);
    i.a = cv(a[1], ty[1]);
    i.mode = has("relu");
    if (a.size() > 2) i.b = cv(a[2], ty[1]);
    bool rg = i.rnd >= RNI;
    if (isF(ty[1]) && !isF(ty[0]) && !rg)
      i.rnd = i.rnd == RZ ? RZI : i.rnd == RM ? RMI : i.rnd == RP ? RPI : RNI;
    i.fn = xCvt;
    return;
  }
  if (op == "cvta") {
    bool to = has("to");
    i.d = cv(a[0]);
    i.a = cv(a[1]);
    i.fn = to ? xCvtaTo : xCvta;
    return;
  }
  if (op == "isspacep") {
    ops(2);
    i.fn = xIsspacep;
    return;
  }
  if (op == "ld" || op == "ldu" || op == "st") {
    bool st = op == "st";
    const PO& A = a[st ? 0 : 1];
    const PO& V = a[st ? 1 : 0];
    if (t == NONE) fail();
    i.a = cv(A);
    i.ty = t;
    if (V.k == PO::VEC) {
      for (auto& q : V.v)
        i.v.push_back(cv(q, t));
      i.fn = st ? BYSIZE(xStV, t) : ldFn(t, true);
    } else if (st) {
      i.b = cv(V, t);
      i.fn = BYSIZE(xSt, t);
    } else {
      i.d = cv(V);
      i.fn = ldFn(t, false);
    }
    return;
  }
  if (op == "atom" || op == "red") {
    bool r = op == "red";
    size_t k = 0;
    if (!r && a[0].k != PO::VEC) i.d = cv(a[k++]);
    if (a.back().k == PO::VEC) {
      if (!has("add") || t == F64 || !fl) fail();
      i.a = cv(a[r ? 0 : 1]);
      for (auto& q : a[r ? 1 : 2].v)
        i.v.push_back(cv(q, t));
      i.n = i.v.size();
      if (!r)
        for (auto& q : a[0].v)
          i.v.push_back(cv(q));
      i.ty = t;
      i.fn = xAtomV;
      return;
    }
    i.a = cv(a[k]);
    ++k;
    i.b = cv(a[k++], t);
    if (a.size() > k) i.c = cv(a[k], t);
    i.ty = t;
    int md = has("add")    ? AADD
             : has("min")  ? AMIN
             : has("max")  ? AMAX
             : has("and")  ? AAND
             : has("or")   ? AOR
             : has("xor")  ? AXOR
             : has("exch") ? AEXCH
             : has("cas")  ? ACAS
             : has("inc")  ? AINC
             : has("dec")  ? ADEC
                           : -1;
    if (md < 0) fail();
    i.mode = md;
    switch (t) {
      case F32:
        i.fn = xAtom<float>;
        break;
      case F64:
        i.fn = xAtom<double>;
        break;
      case F16:
      case F16X2:
      case BF16:
      case BF16X2:
        if (md != AADD) fail();
        i.fn = xAtomH;
        break;
      default:
        set(PICK_I(xAtom, t));
    }
    return;
  }
  if (op == "bra") {
    i.fn = xBra;
    sc.back().pend.push_back({(int)f->code.size(), a[0].s});
    return;
  }
  if (op == "brx") {
    i.a = cv(a[0]);
    i.fn = xBrx;
    sc.back().pendT.push_back({(int)f->code.size(), 0, a[1].s});
    return;
  }
  if (op == "ret") {
    i.fn = xRet;
    return;
  }
  if (op == "exit") {
    i.fn = xExit;
    return;
  }
  if (op == "trap" || op == "brkpt") {
    i.fn = xTrap;
    return;
  }
  if (op == "membar" || op == "fence" || op == "prefetch" || op == "prefetchu" || op == "discard" ||
      op == "applypriority" || op == "griddepcontrol" || op == "setmaxnreg" || op == "pmevent") {
    i.fn = xNop;
    return;
  }
  if (op == "nanosleep") {
    i.fn = xYield;
    return;
  }
  if (op == "cp") {
    if (!has("async")) fail();
    if (has("bulk") || has("mbarrier")) fail();
    if (has("commit_group")) {
      i.fn = xCpCommit;
      return;
    }
    if (has("wait_all")) {
      i.mode = 1;
      i.fn = xCpWait;
      return;
    }
    if (has("wait_group")) {
      i.a = cv(a[0]);
      i.fn = xCpWait;
      return;
    }
    if (has("L2::cache_hint")) a.pop_back();
    i.d = cv(a[0]);
    i.a = cv(a[1]);
    i.b = cv(a[2]);
    if (a.size() > 3) i.c = cv(a[3]);
    i.fn = xCpAsync;
    return;
  }
  if (op == "call") {
    f->hasCalls = true;
    auto ci = std::make_unique<CallInfo>();
    size_t k = 0;
    if (a[0].k == PO::LIST) {
      for (auto& q : a[0].v)
        ci->ret.push_back(cv(q));
      ++k;
    }
    const PO& tg = a[k++];
    Opnd o;
    if (reg(tg.s, o))
      ci->target = o;
    else
      ci->callee = m.func(tg.s);
    if (k < a.size() && a[k].k == PO::LIST)
      for (auto& q : a[k].v)
        ci->args.push_back(cv(q));
    i.call = std::move(ci);
    i.fn = xCall;
    return;
  }
  if (op == "bar" || op == "barrier") {
    if (has("warp")) {
      i.e = cv(a[0]);
      i.mode = W_BAR;
      i.fn = xWarp;
      return;
    }
    if (has("cluster")) {
      i.fn = xNop;
      if (has("wait") || !has("arrive")) {
        i.fn = xBar;
        i.a.k = K::IMM;
        i.a.imm = 15;
      }
      return;
    }
    if (has("red")) {
      i.mode = has("popc") ? 1 : has("and") ? 2 : 3;
      i.d = cv(a[0]);
      i.a = cv(a[1]);
      if (a.size() > 3) {
        i.b = cv(a[2]);
        i.c = cv(a[3]);
      } else
        i.c = cv(a[2]);
      i.fn = xBar;
      return;
    }
    if (has("arrive")) i.hi = true;
    i.mode = 0;
    i.a = cv(a[0]);
    if (a.size() > 1) i.b = cv(a[1]);
    i.fn = xBar;
    return;
  }
  if (op == "activemask") {
    i.d = cv(a[0]);
    i.fn = xActive;
    return;
  }
  if (op == "shfl") {
    if (!has("sync")) fail();
    ops(5);
    i.mode = has("up")     ? W_SHFL_UP
             : has("down") ? W_SHFL_DOWN
             : has("bfly") ? W_SHFL_BFLY
                           : W_SHFL_IDX;
    i.fn = xWarp;
    return;
  }
  if (op == "vote") {
    if (!has("sync")) fail();
    i.d = cv(a[0]);
    i.a = cv(a[1]);
    i.e = cv(a[2]);
    i.mode = has("all") ? W_ALL : has("any") ? W_ANY : has("uni") ? W_UNI : W_BALLOT;
    i.fn = xWarp;
    return;
  }
  if (op == "match") {
    i.d = cv(a[0]);
    if (!a[0].pair.empty()) i.d2 = cv(a[0].pair[0]);
    i.a = cv(a[1]);
    i.e = cv(a[2]);
    i.mode = has("any") ? W_MATCH_ANY : W_MATCH_ALL;
    i.fn = xWarp;
    return;
  }
  if (op == "redux") {
    i.d = cv(a[0]);
    i.a = cv(a[1]);
    i.e = cv(a[2]);
    i.mode = W_REDUX;
    i.bop = has("add")   ? AADD
            : has("min") ? AMIN
            : has("max") ? AMAX
            : has("and") ? AAND
            : has("or")  ? AOR
                         : AXOR;
    i.fn = xWarp;
    return;
  }
  if (op == "elect") {
    i.d = cv(a[0]);
    if (!a[0].pair.empty()) i.d2 = cv(a[0].pair[0]);
    i.e = cv(a[1]);
    i.mode = W_ELECT;
    i.fn = xWarp;
    return;
  }
  fail();
}
Module* loadModule(const std::string& text, int dev) {
  Module* m = new Module;
  m->text = text;
  m->dev = dev;
  Parser p(*m);
  p.module();
  return m;
}
}  // namespace cudasim
