// Running kernels: calls, warp operations, barriers, the scheduler.
#include <sys/mman.h>

#include "ptx_ops.hpp"
namespace cudasim {
Stats g_stats;
std::map<uintptr_t, Range> g_ranges;
Range g_last;
int g_curDev = 0;
bool g_peer[16][16];
bool g_check = true;

// ================================================================= calls
uint64_t blkBase(Th& t, K k) {
  return k == K::DYN ? t.blk->dynBase : t.blk->devBase;
}
uint64_t (*g_clock)() = nullptr;
static std::string devicePrintf(const char* fmt, const uint8_t* args) {
  std::string out;
  size_t at = 0;
  auto take = [&](size_t n) {
    at = (at + n - 1) / n * n;
    uint64_t v = 0;
    std::memcpy(&v, args + at, n);
    at += n;
    return v;
  };
  for (const char* q = fmt; *q;) {
    if (*q != '%') {
      out += *q++;
      continue;
    }
    std::string sp = "%";
    ++q;
    int ll = 0;
    if (*q == '%') {
      out += '%';
      ++q;
      continue;
    }
    while (*q && !std::isalpha((unsigned char)*q)) {
      if (*q == '*') {
        sp += std::to_string((int)take(4));
        ++q;
      } else
        sp += *q++;
    }
    while (*q == 'l' || *q == 'h' || *q == 'z' || *q == 'j' || *q == 't') {
      if (*q != 'h') ++ll;
      ++q;
    }
    char c = *q ? *q++ : 0;
    char buf[512];
    if (c == 'd' || c == 'i')
      std::snprintf(buf, sizeof buf, (sp + "lld").c_str(),
                    ll ? (long long)take(8) : (long long)(int)take(4));
    else if (c == 'u' || c == 'x' || c == 'X' || c == 'o')
      std::snprintf(buf, sizeof buf, (sp + "ll" + c).c_str(),
                    ll ? (long long)take(8) : (long long)(uint32_t)take(4));
    else if (c == 'c')
      std::snprintf(buf, sizeof buf, (sp + "c").c_str(), (int)take(4));
    else if (c == 's') {
      const char* s = (const char*)take(8);
      std::snprintf(buf, sizeof buf, (sp + "s").c_str(), s ? s : "(null)");
    } else if (c == 'p')
      std::snprintf(buf, sizeof buf, "%p", (void*)take(8));
    else {
      uint64_t v = take(8);
      double d;
      std::memcpy(&d, &v, 8);
      std::snprintf(buf, sizeof buf, (sp + c).c_str(), d);
    }
    out += buf;
  }
  return out;
}
uintptr_t devHeapAlloc(size_t n);
void devHeapFree(uintptr_t a);
void xCall(Th& t, const Inst& i) {
  const CallInfo& c = *i.call;
  Func* g = c.callee ? c.callee : (Func*)(uintptr_t)t.R[c.target.r];
  auto arg = [&](size_t k) -> uint64_t {
    uint64_t v;
    std::memcpy(&v, t.P + c.args.at(k).imm, 8);
    return v;
  };
  if (!g) throw SimError(E_LAUNCH, "call through a null function pointer");
  if (!g->defined) {
    if (g->name == "vprintf") {
      const char* fm = (const char*)arg(0);
      std::string s = devicePrintf(fm, (const uint8_t*)arg(1));
      std::fwrite(s.data(), 1, s.size(), stdout);
      std::fflush(stdout);
      int32_t r = (int)s.size();
      if (!c.ret.empty()) std::memcpy(t.P + c.ret[0].imm, &r, 4);
      return;
    }
    if (g->name == "__assertfail") {
      throw SimError(E_ASSERT, std::string("device assert: ") + (const char*)arg(0) + " at " +
                                   (const char*)arg(1) + ":" + std::to_string((uint32_t)arg(2)));
    }
    if (g->name == "malloc") {
      uint64_t a = devHeapAlloc(arg(0));
      std::memcpy(t.P + c.ret[0].imm, &a, 8);
      return;
    }
    if (g->name == "free") {
      devHeapFree(arg(0));
      return;
    }
    throw SimError(E_PTX, "call of undefined device function " + g->name);
  }
  if (t.stack.size() > 2000) throw SimError(E_LAUNCH, "device call stack overflow");
  Frame fr;
  fr.f = t.f;
  fr.pc = t.pc;
  fr.R = t.R;
  fr.P = t.P;
  fr.loc = t.locBase;
  fr.call = &i;
  std::unique_ptr<uint64_t[]> R(new uint64_t[g->nregs]);
  std::unique_ptr<uint8_t[]> P(new uint8_t[g->parSize + 16]);
  std::memcpy(R.get(), t.R, NSPECIAL * 8);
  for (size_t k = 0; k < c.args.size() && k < g->params.size(); ++k)
    std::memcpy(P.get() + g->params[k].off, t.P + c.args[k].imm, g->params[k].size);
  t.locBase += (t.f->locSize + 15) & ~15u;
  if (t.locBase + g->locSize > LOCSZ) throw SimError(E_LAUNCH, "local memory overflow");
  t.R = R.get();
  t.P = P.get();
  t.f = g;
  t.code = g->code.data();
  t.pc = 0;
  fr.own = std::move(R);
  fr.ownP = std::move(P);
  t.stack.push_back(std::move(fr));
}
void xRet(Th& t, const Inst&) {
  if (t.stack.empty()) {
    cpFinish(t, -1);
    t.st = EXITED;
    return;
  }
  Frame fr = std::move(t.stack.back());
  t.stack.pop_back();
  const CallInfo& c = *fr.call->call;
  for (size_t k = 0; k < c.ret.size() && k < t.f->rets.size(); ++k)
    std::memcpy(fr.P + c.ret[k].imm, t.P + t.f->rets[k].off, t.f->rets[k].size);
  t.R = fr.R;
  t.P = fr.P;
  t.f = fr.f;
  t.code = t.f->code.data();
  t.pc = fr.pc;
  t.locBase = fr.loc;
}
// ================================================================= warp-level operations
void warpResolve(Block& b, Th& t) {
  uint32_t w0 = t.warp * 32, n = std::min<uint32_t>(32, b.th.size() - w0), mask = t.wmask, part = 0;
  const Inst& I = *t.wi;
  for (uint32_t l = 0; l < 32; ++l)
    if (mask >> l & 1) {
      if (l >= n) continue;
      Th& o = b.th[w0 + l];
      if (o.st == EXITED) continue;
      if (o.st != WARPWAIT || o.wmask != mask || o.wi->key != I.key) return;
      part |= 1u << l;
    }
  if (I.mma) {
    warpMatrix(b, I, w0, part);
    for (uint32_t l = 0; l < n; ++l)
      if (part >> l & 1) {
        b.th[w0 + l].st = READY;
        b.th[w0 + l].wi = nullptr;
      }
    return;
  }
  auto T = [&](uint32_t l) -> Th& {
    return b.th[w0 + l];
  };
  auto each = [&](auto&& fn) {
    for (uint32_t l = 0; l < 32; ++l)
      if (part >> l & 1) fn(l, T(l), *T(l).wi);
  };
  switch (I.mode) {
    case W_BAR:
      break;
    case W_SHFL_UP:
    case W_SHFL_DOWN:
    case W_SHFL_BFLY:
    case W_SHFL_IDX: {
      uint32_t val[32] = {};
      each([&](uint32_t l, Th& o, const Inst& i) { val[l] = get<uint32_t>(o, i.a); });
      uint32_t res[32];
      bool pr[32];
      each([&](uint32_t l, Th& o, const Inst& i) {
        uint32_t bb = get<uint32_t>(o, i.b) & 31, cc = get<uint32_t>(o, i.c), seg = (cc >> 8) & 31,
                 cl = cc & 31, mx = (l & seg) | (cl & ~seg & 31), mn = l & seg;
        int j;
        bool p;
        switch (i.mode) {
          case W_SHFL_UP:
            j = (int)l - (int)bb;
            p = j >= (int)mx;
            break;
          case W_SHFL_DOWN:
            j = l + bb;
            p = j <= (int)mx;
            break;
          case W_SHFL_BFLY:
            j = l ^ bb;
            p = j <= (int)mx;
            break;
          default:
            j = mn | (bb & ~seg & 31);
            p = j <= (int)mx;
        }
        if (!p) j = l;
        if (!(part >> j & 1)) {
          if (i.d2.k == K::NIL || p) {
          }
          res[l] = 0xDEADBEEF;
        } else
          res[l] = val[j];
        pr[l] = p;
      });
      each([&](uint32_t l, Th& o, const Inst& i) {
        put<uint32_t>(o, i.d, res[l]);
        if (i.d2.k == K::REG) putP(o, i.d2, pr[l]);
      });
      break;
    }
    case W_ALL:
    case W_ANY:
    case W_UNI:
    case W_BALLOT: {
      uint32_t bal = 0;
      each([&](uint32_t l, Th& o, const Inst& i) {
        if (getP(o, i.a)) bal |= 1u << l;
      });
      each([&](uint32_t, Th& o, const Inst& i) {
        if (i.mode == W_BALLOT)
          put<uint32_t>(o, i.d, bal);
        else
          putP(o, i.d,
               i.mode == W_ALL   ? bal == part
               : i.mode == W_ANY ? bal != 0
                                 : bal == 0 || bal == part);
      });
      break;
    }
    case W_MATCH_ANY:
    case W_MATCH_ALL: {
      uint64_t v[32];
      each([&](uint32_t l, Th& o, const Inst& i) { v[l] = rawMask(o, i); });
      uint32_t r[32];
      bool al = true;
      int f0 = __builtin_ctz(part);
      each([&](uint32_t l, Th&, const Inst&) {
        r[l] = 0;
        for (uint32_t k = 0; k < 32; ++k)
          if ((part >> k & 1) && v[k] == v[l]) r[l] |= 1u << k;
        if (v[l] != v[f0]) al = false;
      });
      each([&](uint32_t l, Th& o, const Inst& i) {
        if (i.mode == W_MATCH_ANY)
          put<uint32_t>(o, i.d, r[l]);
        else {
          put<uint32_t>(o, i.d, al ? part : 0);
          if (i.d2.k == K::REG) putP(o, i.d2, al);
        }
      });
      break;
    }
    case W_REDUX: {
      bool first = true;
      uint32_t acc = 0;
      bool sg = isS(I.ty);
      each([&](uint32_t, Th& o, const Inst& i) {
        uint32_t v = get<uint32_t>(o, i.a);
        if (first) {
          acc = v;
          first = false;
          return;
        }
        switch (i.bop) {
          case AADD:
            acc += v;
            break;
          case AMIN:
            acc = sg ? (uint32_t)std::min((int)acc, (int)v) : std::min(acc, v);
            break;
          case AMAX:
            acc = sg ? (uint32_t)std::max((int)acc, (int)v) : std::max(acc, v);
            break;
          case AAND:
            acc &= v;
            break;
          case AOR:
            acc |= v;
            break;
          default:
            acc ^= v;
        }
      });
      each([&](uint32_t, Th& o, const Inst& i) { put<uint32_t>(o, i.d, acc); });
      break;
    }
    case W_ELECT: {
      uint32_t ld = __builtin_ctz(part);
      each([&](uint32_t l, Th& o, const Inst& i) {
        put<uint32_t>(o, i.d, ld);
        if (i.d2.k == K::REG) putP(o, i.d2, l == ld);
      });
      break;
    }
  }
  each([&](uint32_t, Th& o, const Inst&) {
    o.st = READY;
    o.wi = nullptr;
  });
}
// ================================================================= block barriers
static void barResolve(Block& b, int id) {
  uint32_t arrived = b.bars[id].arrived, wait = 0;
  const Inst* any = nullptr;
  uint32_t need = 0;
  for (Th& t : b.th)
    if (t.st == BARWAIT && t.barId == id) {
      ++wait;
      any = t.wi;
      if (t.wi->b.k != K::NIL) need = get<uint32_t>(t, t.wi->b);
    }
  if (!any && !arrived) return;
  if (b.bars[id].need) need = std::max(need, b.bars[id].need);
  if (!need) need = b.live;
  if (wait + arrived < need || !any) return;
  uint32_t cnt = 0;
  for (Th& t : b.th)
    if (t.st == BARWAIT && t.barId == id) cnt += t.barPred;
  for (Th& t : b.th)
    if (t.st == BARWAIT && t.barId == id) {
      const Inst& i = *t.wi;
      if (i.mode == 1)
        put<uint32_t>(t, i.d, cnt);
      else if (i.mode == 2)
        putP(t, i.d, cnt == wait);
      else if (i.mode == 3)
        putP(t, i.d, cnt > 0);
      t.st = READY;
      t.wi = nullptr;
    }
  b.bars[id].arrived = 0;
  b.bars[id].need = 0;
}
// Throws the error again, with the PTX line and the thread.
[[noreturn]] void rethrowAt(const SimError& e, const Th& t, const Inst& i) {
  const std::string& s = t.f->mod->text;
  size_t b = 0;
  for (int l = 1; l < i.line && b != std::string::npos; ++l) {
    b = s.find('\n', b);
    if (b != std::string::npos) ++b;
  }
  std::string ln = b == std::string::npos ? "" : s.substr(b, s.find('\n', b) - b);
  auto triple = [&](int r) {
    return std::to_string(t.R[r]) + "," + std::to_string(t.R[r + 1]) + "," +
           std::to_string(t.R[r + 2]);
  };
  throw SimError(e.code, std::string(e.what()) + "\n    in " + t.f->name + " PTX line " +
                             std::to_string(i.line) + ": " + ln + "\n    thread " + triple(TIDX) +
                             " block " + triple(CTAX));
}
// Gives the lanes that wait at the same activemask their common mask once no other lane of the warp
// can arrive.
static void resolveActive(Block& b) {
  for (uint32_t w0 = 0; w0 < b.th.size(); w0 += 32) {
    uint32_t end = std::min<size_t>(b.th.size(), w0 + 32);
    bool running = false;
    uint32_t waited = 0;
    for (uint32_t k = w0; k < end; ++k) {
      Th& t = b.th[k];
      if (t.st == READY) running = true;
      if (t.st == ACTIVEWAIT) waited = std::max(waited, ++t.waited);
    }
    if (!waited || (running && waited < 64)) continue;
    for (uint32_t k = w0; k < end; ++k) {
      if (b.th[k].st != ACTIVEWAIT) continue;
      const Inst* at = b.th[k].wi;
      size_t depth = b.th[k].stack.size();
      uint32_t mask = 0;
      auto same = [&](const Th& o) {
        return o.st == ACTIVEWAIT && o.wi == at && o.stack.size() == depth;
      };
      for (uint32_t j = k; j < end; ++j)
        if (same(b.th[j])) mask |= 1u << b.th[j].lane;
      for (uint32_t j = k; j < end; ++j)
        if (same(b.th[j])) {
          put<uint32_t>(b.th[j], at->d, mask);
          b.th[j].st = READY;
          b.th[j].wi = nullptr;
        }
    }
  }
}
static void runThread(Th& t, uint32_t quantum) {
  uint64_t n = 0;
  try {
    while (n < quantum) {
      const Inst& i = t.code[t.pc++];
      ++n;
      if (i.pr >= 0 && ((t.R[i.pr] & 1) != 0) == i.pneg) continue;
      i.fn(t, i);
      if (t.st != READY) break;
      if (t.yield) {
        t.yield = false;
        break;
      }
    }
  } catch (SimError& e) {
    g_stats.insts += n;
    rethrowAt(e, t, t.code[t.pc - 1]);
  }
  g_stats.insts += n;
}
static bool sweep(Block& b, const std::vector<uint32_t>& order, uint32_t quantum) {
  bool progress = false;
  for (uint32_t ix : order) {
    Th& t = b.th[ix];
    if (t.st != READY) continue;
    runThread(t, quantum);
    progress = true;
    if (t.st == WARPWAIT)
      warpResolve(b, t);
    else if (t.st == BARWAIT) {
      if (t.wi->hi) {
        auto& br = b.bars[t.barId];
        ++br.arrived;
        br.need = get<uint32_t>(t, t.wi->b);
        t.st = READY;
        int id = t.barId;
        t.wi = nullptr;
        barResolve(b, id);
      }
    } else if (t.st == EXITED) {
      --b.live;
      for (uint32_t k = t.warp * 32; k < std::min<size_t>(b.th.size(), t.warp * 32 + 32); ++k)
        if (b.th[k].st == WARPWAIT) warpResolve(b, b.th[k]);
    }
  }
  for (int id = 0; id < 16; ++id) {
    bool any = b.bars[id].arrived;
    if (!any)
      for (Th& t : b.th)
        if (t.st == BARWAIT && t.barId == id) {
          any = true;
          break;
        }
    if (any) barResolve(b, id);
    if (id == 0 && !any) {
      bool w = false;
      for (Th& t : b.th)
        if (t.st == BARWAIT) {
          w = true;
          break;
        }
      if (!w) break;
    }
  }
  bool act = false;
  for (Th& t : b.th)
    act |= t.st == ACTIVEWAIT;
  if (act) {
    resolveActive(b);
    progress = true;
  }
  if (!progress)
    for (Th& t : b.th)
      if (t.st == READY) progress = true;
  return progress;
}
static void initBlock(Block& b, Func* f, const LaunchCfg& c, uint64_t idx, uint64_t* regs,
                      std::vector<uint8_t>& par, uint8_t* local, const std::vector<uint8_t>& args,
                      bool perThreadPar) {
  uint32_t nt = c.block[0] * c.block[1] * c.block[2];
  b.cta[0] = idx % c.grid[0];
  b.cta[1] = idx / c.grid[0] % c.grid[1];
  b.cta[2] = idx / ((uint64_t)c.grid[0] * c.grid[1]);
  b.th.resize(nt);
  b.live = nt;
  b.done = false;
  b.dynBase = f->shStatic;
  b.devBase = (f->shStatic + c.dyn + 15) & ~15u;
  uint32_t shs = b.devBase + f->mod->devShared;
  b.sh.resize(shs + 16);
  b.sh.resize(shs);
  std::fill(b.sh.begin(), b.sh.end(), 0xFF);
  for (auto& x : b.bars)
    x = Bar{};
  for (uint32_t k = 0; k < nt; ++k) {
    Th& t = b.th[k];
    t.stack.clear();
    t.f = f;
    t.blk = &b;
    t.code = f->code.data();
    t.pc = 0;
    t.st = READY;
    t.yield = false;
    t.cc = false;
    t.cp.clear();
    t.cpGroup = 0;
    t.locBase = 0;
    t.tid = k;
    t.lane = k & 31;
    t.warp = k >> 5;
    t.wi = nullptr;
    t.R = regs + (size_t)k * f->nregs;
    if (perThreadPar) {
      t.P = par.data() + (size_t)k * args.size();
      std::memcpy(t.P, args.data(), args.size());
    } else
      t.P = const_cast<uint8_t*>(args.data());
    t.local = local ? local + (size_t)k * LOCSZ : nullptr;
    uint64_t* R = t.R;
    R[TIDX] = k % c.block[0];
    R[TIDY] = k / c.block[0] % c.block[1];
    R[TIDZ] = k / (c.block[0] * c.block[1]);
    for (int q = 0; q < 3; ++q) {
      R[NTIDX + q] = c.block[q];
      R[CTAX + q] = b.cta[q];
      R[NCTAX + q] = c.grid[q];
    }
    R[LANEID] = t.lane;
    R[WARPID] = t.warp;
    R[NWARPID] = (nt + 31) / 32;
    R[SMID] = idx % 4;
    R[NSMID] = 4;
    R[GRIDID] = 1;
    uint32_t e = 1u << t.lane;
    R[LMEQ] = e;
    R[LMLT] = e - 1;
    R[LMLE] = e | (e - 1);
    R[LMGE] = (uint32_t) ~(e - 1);
    R[LMGT] = (uint32_t) ~(e | (e - 1));
    R[ENV1] = c.gridWs >> 32;
    R[ENV2] = c.gridWs & 0xffffffffu;
    R[DYNSMEM] = c.dyn;
    R[TOTSMEM] = shs;
    R[SZERO] = 0;
    R[SONE] = 1;
  }
}
// Memory that grows and is kept from launch to launch: fresh pages cost more than most kernels.
class Scratch {
 public:
  uint8_t* at_least(size_t n) {
    if (n > size_) {
      if (size_) munmap(p_, size_);
      int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
      p_ = (uint8_t*)mmap(nullptr, n, PROT_READ | PROT_WRITE, flags, -1, 0);
      size_ = p_ == MAP_FAILED ? 0 : n;
      if (!size_) throw SimError(2, "no memory for registers and local memory");
    }
    return p_;
  }

 private:
  uint8_t* p_ = nullptr;
  size_t size_ = 0;
};
void launch(Func* f, const LaunchCfg& c, const std::vector<uint8_t>& ab) {
  uint32_t nt = c.block[0] * c.block[1] * c.block[2];
  uint64_t nb = (uint64_t)c.grid[0] * c.grid[1] * c.grid[2];
  static const long seed =
      std::getenv("CUDASIM_SEED") ? std::atol(std::getenv("CUDASIM_SEED")) : -1;
  static const long resEnv =
      std::getenv("CUDASIM_RESIDENT") ? std::atol(std::getenv("CUDASIM_RESIDENT")) : 1;
  static std::mt19937 rng(seed >= 0 ? (uint32_t)seed : 1u);
  uint64_t res = c.coop ? nb : std::min<uint64_t>(nb, std::max(1l, resEnv));
  bool ptp = f->hasCalls || f->parSize > 0;
  ptp = f->hasCalls;
  struct Slot {
    Block b;
    uint64_t* regs = nullptr;
    std::vector<uint8_t> par;
    uint8_t* local = nullptr;
  };
  std::vector<std::unique_ptr<Slot>> slots;
  uint64_t next = 0, finished = 0;
  bool needLocal = f->locSize || f->hasCalls;
  static Scratch localMemory, registers;
  uint8_t* la = needLocal ? localMemory.at_least((size_t)res * nt * LOCSZ) : nullptr;
  uint64_t* ra = (uint64_t*)registers.at_least((size_t)res * nt * f->nregs * sizeof(uint64_t));
  std::vector<uint32_t> order(nt);
  for (uint32_t k = 0; k < nt; ++k)
    order[k] = k;
  for (uint64_t r = 0; r < res; ++r) {
    auto s = std::make_unique<Slot>();
    s->regs = ra + r * (size_t)nt * f->nregs;
    if (ptp) s->par.resize((size_t)nt * ab.size());
    s->local = la ? la + r * (size_t)nt * LOCSZ : nullptr;
    initBlock(s->b, f, c, next++, s->regs, s->par, s->local, ab, ptp);
    slots.push_back(std::move(s));
  }
  static const uint64_t limit = std::getenv("CUDASIM_MAX_INSTS")
                                    ? std::strtoull(std::getenv("CUDASIM_MAX_INSTS"), nullptr, 0)
                                    : 200000000000ull;
  const uint64_t start = g_stats.insts;
  while (finished < nb) {
    if (g_stats.insts - start > limit)
      throw SimError(E_LAUNCH, "watchdog: kernel " + f->name +
                                   " ran more than CUDASIM_MAX_INSTS instructions");
    bool any = false;
    for (auto& s : slots) {
      Block& b = s->b;
      if (b.done) continue;
      uint32_t q = res > 1 ? 2000 : 20000;
      if (seed >= 0) {
        std::shuffle(order.begin(), order.end(), rng);
        q = rng() % 3 ? 1 + rng() % 200 : 1 + rng() % 8;
      }
      if (sweep(b, order, q)) any = true;
      if (b.live == 0) {
        any = true;
        ++finished;
        if (next < nb)
          initBlock(b, f, c, next++, s->regs, s->par, s->local, ab, ptp);
        else
          b.done = true;
      }
    }
    if (!any) {  // deadlock
      std::string m = "deadlock: no thread of kernel " + f->name +
                      " can make progress (divergent __syncthreads, or a warp-sync mask naming "
                      "lanes that never arrive)";
      for (auto& s : slots) {
        if (s->b.done) continue;
        int shown = 0;
        for (Th& t : s->b.th)
          if (t.st != EXITED && shown++ < 4) {
            m += "\n    block " + std::to_string(s->b.cta[0]) + " thread " + std::to_string(t.tid) +
                 " waits at PTX line " + std::to_string(t.wi ? t.wi->line : 0) +
                 (t.st == BARWAIT ? " (bar)" : " (warp op)");
          }
        break;
      }
      throw SimError(E_LAUNCH, m);
    }
  }
}
}  // namespace cudasim
