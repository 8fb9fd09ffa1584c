// Parses PTX text into instructions.
#pragma once
#include <set>

#include "ptx_ops.hpp"
namespace cudasim {
struct PO {
  enum KK { ID, NUM, ADDR, VEC, LIST } k = ID;
  std::string s;
  uint64_t num = 0;
  bool neg = false, isdec = false, isf = false;
  int64_t off = 0;
  std::vector<PO> v;
  std::vector<PO> pair;
};
struct Sym {
  enum KK { REG, SHARED, DYNSH, DEVSH, GLOBAL, LOCAL, PARAM } k;
  uint64_t v;
  uint32_t count = 0;
  Ty ty = NONE;
  uint32_t size = 0, align = 1;
};

int keyOf(const std::string& s);

struct Parser {
  Module& m;
  std::string src;
  size_t p = 0;
  int line = 1;
  struct Scope {
    std::unordered_map<std::string, Sym> syms;
    std::unordered_map<std::string, int> labels;
    std::vector<std::pair<int, std::string>> pend;
    std::vector<std::tuple<int, int, std::string>> pendT;
    std::unordered_map<std::string, std::vector<std::string>> btargets;
  };
  std::vector<Scope> sc;
  Func* f = nullptr;
  std::vector<std::pair<std::string, size_t>> dummy;

  Parser(Module& mm) : m(mm) {  // strip comments
    const std::string& t = mm.text;
    src.reserve(t.size());
    for (size_t i = 0; i < t.size(); ++i) {
      if (t[i] == '/' && i + 1 < t.size() && t[i + 1] == '/') {
        while (i < t.size() && t[i] != '\n')
          ++i;
        src += '\n';
      } else if (t[i] == '/' && i + 1 < t.size() && t[i + 1] == '*') {
        i += 2;
        while (i + 1 < t.size() && !(t[i] == '*' && t[i + 1] == '/')) {
          if (t[i] == '\n') src += '\n';
          ++i;
        }
        ++i;
        src += ' ';
      } else if (t[i] == 0)
        break;
      else
        src += t[i];
    }
    sc.emplace_back();
  }
  [[noreturn]] void err(const std::string& w) {
    size_t e = src.find('\n', p);
    throw SimError(E_PTX, "PTX line " + std::to_string(line) + ": " + w + " near '" +
                              src.substr(p, std::min<size_t>(e - p, 60)) + "'");
  }
  void ws() {
    while (p < src.size() &&
           (src[p] == ' ' || src[p] == '\t' || src[p] == '\n' || src[p] == '\r')) {
      if (src[p] == '\n') ++line;
      ++p;
    }
  }
  char pk() {
    ws();
    return p < src.size() ? src[p] : 0;
  }
  bool eat(char c) {
    if (pk() == c) {
      ++p;
      return true;
    }
    return false;
  }
  void need(char c) {
    if (!eat(c)) err(std::string("expected '") + c + "'");
  }
  static bool wc(char c) {
    return std::isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
  }
  std::string word() {
    ws();
    size_t b = p;
    while (p < src.size() &&
           (wc(src[p]) || (src[p] == ':' && p + 1 < src.size() && src[p + 1] == ':' && ++p)))
      ++p;
    return src.substr(b, p - b);
  }
  std::string peekWord() {
    size_t q = p;
    int l = line;
    std::string w = word();
    p = q;
    line = l;
    return w;
  }
  void skipTo(char c) {
    while (p < src.size() && src[p] != c) {
      if (src[p] == '\n') ++line;
      ++p;
    }
    if (p < src.size()) ++p;
  }
  static bool isNumStart(const std::string& w) {
    return !w.empty() && std::isdigit((unsigned char)w[0]);
  }
  static void parseNum(const std::string& w, PO& o) {
    o.k = PO::NUM;
    if (w.size() > 2 && w[0] == '0' && (w[1] == 'f' || w[1] == 'F') && w.size() == 10) {
      o.num = std::strtoull(w.c_str() + 2, nullptr, 16);
      o.isf = true;
      return;
    }
    if (w.size() > 2 && w[0] == '0' && (w[1] == 'd' || w[1] == 'D') && w.size() == 18) {
      o.num = std::strtoull(w.c_str() + 2, nullptr, 16);
      o.isf = true;
      return;
    }
    bool hex = w.size() > 1 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X');
    if (!hex && (w.find('.') != std::string::npos || w.find('e') != std::string::npos ||
                 w.find('E') != std::string::npos)) {
      double d = std::strtod(w.c_str(), nullptr);
      std::memcpy(&o.num, &d, 8);
      o.isdec = true;
      return;
    }
    if (w.size() > 2 && w[0] == '0' && (w[1] == 'b' || w[1] == 'B')) {
      o.num = std::strtoull(w.c_str() + 2, nullptr, 2);
      return;
    }
    o.num = std::strtoull(w.c_str(), nullptr, 0);
  }
  PO operand() {
    PO o;
    char c = pk();
    if (c == '[') {
      ++p;
      o.k = PO::ADDR;
      o.v.push_back(operand());
      o.off = o.v[0].off;
      while (pk() == ',') {
        ++p;
        o.v.push_back(operand());
      }
      need(']');
      return o;
    }
    if (c == '{' || c == '(') {
      ++p;
      o.k = c == '{' ? PO::VEC : PO::LIST;
      char e = c == '{' ? '}' : ')';
      if (!eat(e)) {
        do
          o.v.push_back(operand());
        while (eat(','));
        need(e);
      }
      return o;
    }
    if (c == '!') {
      ++p;
      o = operand();
      o.neg = true;
      return o;
    }
    bool minus = false;
    if (c == '-') {
      ++p;
      minus = true;
    } else if (c == '+')
      ++p;
    std::string w = word();
    if (w.empty()) err("operand expected");
    if (isNumStart(w)) {
      if ((w.back() == 'e' || w.back() == 'E') && (src[p] == '-' || src[p] == '+') &&
          w.compare(0, 2, "0x") != 0) {
        w += src[p++];
        w += word();
      }
      parseNum(w, o);
      if (minus) {
        if (o.isdec) {
          double d;
          std::memcpy(&d, &o.num, 8);
          d = -d;
          std::memcpy(&o.num, &d, 8);
        } else
          o.num = 0 - o.num;
      }
    } else {
      o.k = PO::ID;
      o.s = w;
    }
    while (pk() == '+' || (pk() == '-')) {
      bool ng = src[p] == '-';
      ++p;
      bool n2 = eat('-');
      std::string w2 = word();
      PO q;
      parseNum(w2, q);
      int64_t v = (int64_t)q.num;
      o.off += (ng != n2) ? -v : v;
    }
    if (pk() == '|') {
      ++p;
      o.pair.push_back(operand());
    }
    return o;
  }
  // ------------------------------------------------------------- symbols
  Sym* find(const std::string& n) {
    for (size_t k = sc.size(); k-- > 0;) {
      auto it = sc[k].syms.find(n);
      if (it != sc[k].syms.end()) return &it->second;
    }
    return nullptr;
  }
  bool reg(const std::string& n, Opnd& o) {
    static const std::unordered_map<std::string, int> sp = {{"%tid.x", TIDX},
                                                            {"%tid.y", TIDY},
                                                            {"%tid.z", TIDZ},
                                                            {"%ntid.x", NTIDX},
                                                            {"%ntid.y", NTIDY},
                                                            {"%ntid.z", NTIDZ},
                                                            {"%ctaid.x", CTAX},
                                                            {"%ctaid.y", CTAY},
                                                            {"%ctaid.z", CTAZ},
                                                            {"%nctaid.x", NCTAX},
                                                            {"%nctaid.y", NCTAY},
                                                            {"%nctaid.z", NCTAZ},
                                                            {"%laneid", LANEID},
                                                            {"%warpid", WARPID},
                                                            {"%nwarpid", NWARPID},
                                                            {"%smid", SMID},
                                                            {"%nsmid", NSMID},
                                                            {"%gridid", GRIDID},
                                                            {"%lanemask_eq", LMEQ},
                                                            {"%lanemask_le", LMLE},
                                                            {"%lanemask_lt", LMLT},
                                                            {"%lanemask_ge", LMGE},
                                                            {"%lanemask_gt", LMGT},
                                                            {"%envreg1", ENV1},
                                                            {"%envreg2", ENV2},
                                                            {"%dynamic_smem_size", DYNSMEM},
                                                            {"%total_smem_size", TOTSMEM},
                                                            {"%cluster_ctaid.x", SZERO},
                                                            {"%cluster_ctaid.y", SZERO},
                                                            {"%cluster_ctaid.z", SZERO},
                                                            {"%cluster_ctarank", SZERO},
                                                            {"%cluster_nctaid.x", SONE},
                                                            {"%cluster_nctaid.y", SONE},
                                                            {"%cluster_nctaid.z", SONE},
                                                            {"%cluster_nctarank", SONE},
                                                            {"%clusterid.x", CTAX},
                                                            {"%clusterid.y", CTAY},
                                                            {"%clusterid.z", CTAZ},
                                                            {"%nclusterid.x", NCTAX},
                                                            {"%nclusterid.y", NCTAY},
                                                            {"%nclusterid.z", NCTAZ}};
    if (Sym* s = find(n)) {
      if (s->k != Sym::REG) return false;
      o.k = K::REG;
      o.r = (int)s->v;
      return true;
    }
    auto it = sp.find(n);
    if (it != sp.end()) {
      o.k = K::REG;
      o.r = it->second;
      return true;
    }
    size_t e = n.size();
    while (e > 0 && std::isdigit((unsigned char)n[e - 1]))
      --e;
    if (e < n.size()) {
      uint32_t num = std::strtoul(n.c_str() + e, nullptr, 10);
      std::string b = n.substr(0, e) + "<";
      if (Sym* s = find(b))
        if (num < s->count) {
          o.k = K::REG;
          o.r = (int)(s->v + num);
          return true;
        }
    }
    return false;
  }
  Opnd cv(const PO& q, Ty ty = NONE) {
    Opnd o;
    o.neg = q.neg;
    if (q.k == PO::NUM) {
      o.k = K::IMM;
      o.imm = q.num;
      if (q.isdec) {
        double d;
        std::memcpy(&d, &q.num, 8);
        if (ty == F32) {
          float x = (float)d;
          uint32_t u;
          std::memcpy(&u, &x, 4);
          o.imm = u;
        }
      } else if (!q.isf && (ty == F32 || ty == F64)) {
        int64_t v = (int64_t)q.num;
        if (ty == F32) {
          float x = (float)v;
          uint32_t u;
          std::memcpy(&u, &x, 4);
          o.imm = u;
        } else {
          double x = (double)v;
          std::memcpy(&o.imm, &x, 8);
        }
      }
      o.imm += q.off;
      return o;
    }
    if (q.k == PO::ADDR) {
      if (q.v.size() != 1) throw SimError(E_PTX, "multi-part address");
      Opnd b = cv(q.v[0]);
      if (b.k == K::REG) b.imm = (uint64_t)q.v[0].off;
      return b;
    }
    if (q.k != PO::ID) throw SimError(E_PTX, "unexpected operand form");
    if (q.s == "_") return o;
    if (reg(q.s, o)) return o;
    if (q.s == "WARP_SZ") {
      o.k = K::IMM;
      o.imm = 32;
      return o;
    }
    if (Sym* s = find(q.s)) {
      o.imm = s->v + q.off;
      o.k = s->k == Sym::LOCAL   ? K::LOC
            : s->k == Sym::PARAM ? K::PAR
            : s->k == Sym::DYNSH ? K::DYN
            : s->k == Sym::DEVSH ? K::DSH
                                 : K::IMM;
      return o;
    }
    auto it = m.funcs.find(q.s);
    if (it != m.funcs.end()) {
      o.k = K::IMM;
      o.imm = (uint64_t)(uintptr_t)it->second.get();
      return o;
    }
    throw SimError(E_PTX, "unknown name '" + q.s + "'");
  }
  // ------------------------------------------------------------- declarations
  struct Decl {
    uint32_t align = 0;
    Ty ty = NONE;
    uint32_t vec = 1;
    bool managed = false;
    bool ptr = false;
    std::string name;
    uint64_t count = 1;
    bool arr = false;
    uint32_t range = 0;
    uint64_t size() const { return (uint64_t)tySize(ty) * vec * count; }
    uint32_t al() const { return align ? align : std::max(1u, (uint32_t)tySize(ty) * vec); }
  };
  Decl decl() {  // after the space keyword
    Decl d;
    for (;;) {
      ws();
      if (src[p] == '.') {
        std::string w = word();
        if (w == ".align") {
          uint32_t a = std::strtoul(word().c_str(), nullptr, 10);
          if (!d.ptr) d.align = a;
        } else if (w == ".attribute") {
          need('(');
          std::string a = word();
          if (a == ".managed") d.managed = true;
          skipTo(')');
        } else if (w == ".v2")
          d.vec = 2;
        else if (w == ".v4")
          d.vec = 4;
        else if (w == ".ptr")
          d.ptr = true;
        else if (w == ".global" || w == ".shared" || w == ".const" || w == ".local" ||
                 w == ".generic") {
        } else {
          Ty t = parseTy(w.substr(1));
          if (t == NONE) {
            if (w == ".b128") {
              d.ty = B64;
              d.vec = 2;
            } else
              err("unknown type " + w);
          } else
            d.ty = t;
        }
      } else
        break;
    }
    d.name = word();
    declTail(d);
    return d;
  }
  void declTail(Decl& d) {
    if (eat('<')) {
      d.range = std::strtoul(word().c_str(), nullptr, 10);
      need('>');
    }
    while (pk() == '[') {
      ++p;
      d.arr = true;
      if (eat(']')) {
        d.count = 0;
        continue;
      }
      d.count *= std::strtoull(word().c_str(), nullptr, 0);
      need(']');
    }
  }
  void initBytes(uint8_t* dst, Ty ty, size_t cap, size_t& at) {
    if (pk() == '{') {
      ++p;
      if (!eat('}')) {
        do
          initBytes(dst, ty, cap, at);
        while (eat(','));
        need('}');
      }
      return;
    }
    uint64_t v = 0;
    size_t n = tySize(ty);
    uint64_t mask = 0;
    std::string w;
    bool minus = false;
    if (eat('-')) minus = true;
    w = word();
    if (isNumStart(w)) {
      PO o;
      if (pk() == '(') {
        mask = std::strtoull(w.c_str(), nullptr, 0);
        ++p;
        w = word();
        v = address(w);
        need(')');
        v = (v & mask) >> __builtin_ctzll(mask);
      } else {
        if ((w.back() == 'e' || w.back() == 'E') && (src[p] == '-' || src[p] == '+') &&
            w.compare(0, 2, "0x") != 0) {
          w += src[p++];
          w += word();
        }
        parseNum(w, o);
        v = o.num;
        if (o.isdec) {
          double d;
          std::memcpy(&d, &v, 8);
          if (minus) d = -d;
          if (ty == F32) {
            float x = (float)d;
            uint32_t u;
            std::memcpy(&u, &x, 4);
            v = u;
          } else
            std::memcpy(&v, &d, 8);
        } else if (minus)
          v = 0 - v;
      }
    } else {
      v = address(w);
    }
    if (at + n <= cap) std::memcpy(dst + at, &v, n);
    at += n;
  }
  // The address SYMBOL, generic(SYMBOL) or either + OFFSET, whose first word was read.
  uint64_t address(std::string w) {
    if (w == "generic") {
      need('(');
      w = word();
      need(')');
    }
    uint64_t v = symVal(w);
    if (pk() == '+') {
      ++p;
      v += std::strtoull(word().c_str(), nullptr, 0);
    }
    return v;
  }
  uint64_t symVal(const std::string& w) {
    if (Sym* s = find(w)) return s->v;
    auto it = m.funcs.find(w);
    if (it != m.funcs.end()) return (uint64_t)(uintptr_t)it->second.get();
    auto g = m.gvars.find(w);
    if (g != m.gvars.end()) return g->second.addr;
    err("unknown initializer symbol " + w);
  }
  void declVar(const std::string& space, bool ext) {
    bool first = true;
    Decl d;
    do {
      if (first)
        d = decl();
      else {
        d.count = 1;
        d.arr = false;
        d.range = 0;
        d.name = word();
        declTail(d);
      }
      first = false;
      Sym s;
      s.size = d.size();
      s.align = d.al();
      s.ty = d.ty;
      if (space == ".reg") {
        s.k = Sym::REG;
        uint32_t n = d.range ? d.range : 1;
        s.v = f->nregs;
        s.count = n;
        f->nregs += n * d.vec;
        sc.back().syms[d.range ? d.name + "<" : d.name] = s;
      } else if (space == ".shared") {
        bool dev = f && !f->entry;
        s.k = dev ? Sym::DEVSH : Sym::SHARED;
        uint32_t& top = dev ? m.devShared : f ? f->shStatic : m.modShared;
        if (d.arr && d.count == 0) {
          s.k = Sym::DYNSH;
          s.v = 0;
        } else {
          top = (top + s.align - 1) / s.align * s.align;
          s.v = top;
          top += d.size();
        }
        sc[f ? sc.size() - 1 : 0].syms[d.name] = s;
        if (pk() == '=') {
          ++p;
          skipInit();
        }
      } else if (space == ".local") {
        s.k = Sym::LOCAL;
        f->locSize = (f->locSize + s.align - 1) / s.align * s.align;
        s.v = f->locSize;
        f->locSize += d.size();
        sc.back().syms[d.name] = s;
      } else if (space == ".param") {
        s.k = Sym::PARAM;
        uint32_t al = std::max<uint32_t>(s.align, 8);
        f->parSize = (f->parSize + al - 1) / al * al;
        s.v = f->parSize;
        f->parSize += std::max<uint64_t>(d.size(), 8);
        sc.back().syms[d.name] = s;
      } else {  // .global / .const
        if (ext) {
          s.k = Sym::GLOBAL;
          s.v = 0;
          if (m.gvars.count(d.name)) s.v = m.gvars[d.name].addr;
          sc[0].syms[d.name] = s;
          if (pk() == '=') {
            ++p;
            skipInit();
          }
          continue;
        }
        bool unsized = d.arr && d.count == 0;
        size_t n = d.size();
        std::vector<uint8_t> tmp;
        size_t q = p;
        int l = line;
        if (pk() == '=') {
          ++p;
          if (unsized) {
            size_t at = 0;
            initBytes(nullptr, d.ty, 0, at);
            n = at;
            p = q;
            line = l;
          }
        }
        uintptr_t a = devAlloc(std::max<size_t>(n, 1), d.managed ? 1 : 0, m.dev);
        std::memset((void*)a, 0, n);
        s.k = Sym::GLOBAL;
        s.v = a;
        s.size = n;
        sc[0].syms[d.name] = s;
        m.gvars[d.name] = {d.name, a, n};
        if (p != q || pk() == '=') {
          if (p == q) {
            ++p;
          }
          size_t at = 0;
          p = q;
          line = l;
          need('=');
          initBytes((uint8_t*)a, d.ty, n, at);
        }
      }
    } while (eat(','));
    need(';');
  }
  void skipInit() {
    if (pk() == '{')
      skipTo('}');
    else
      word();
  }
  void formals(std::vector<Formal>& out) {  // after '('
    if (eat(')')) return;
    do {
      std::string w = word();
      if (w == ".reg") {
        decl();
        continue;
      }
      if (w != ".param") err("unexpected parameter " + w);
      Decl d = decl();
      uint32_t n = d.size(), al = d.al();
      f->parSize = (f->parSize + al - 1) / al * al;
      out.push_back({d.name, f->parSize, n, al});
      f->parSize += n;
      Sym s;
      s.k = Sym::PARAM;
      s.v = out.back().off;
      s.size = n;
      s.align = al;
      sc.back().syms[d.name] = s;
    } while (eat(','));
    need(')');
  }
  void function(bool entry) {
    sc.emplace_back();
    Func tmp;
    tmp.nregs = NSPECIAL;
    Func* prev = f;
    f = &tmp;
    tmp.mod = &m;
    tmp.entry = entry;
    tmp.shStatic = m.modShared;
    if (!entry && pk() == '(') {
      ++p;
      formals(tmp.rets);
    }
    std::string name = word();
    if (pk() == '(') {
      ++p;
      formals(tmp.params);
    }
    for (;;) {
      char c = pk();
      if (c == '{' || c == ';') break;
      std::string w = word();
      if (w == ".maxntid" || w == ".reqntid") {
        uint32_t v[3] = {1, 1, 1};
        int k = 0;
        do
          v[k++] = std::strtoul(word().c_str(), nullptr, 10);
        while (eat(',') && k < 3);
        if (w == ".maxntid")
          tmp.maxntid = v[0] * v[1] * v[2];
        else {
          for (int q = 0; q < 3; ++q)
            tmp.reqntid[q] = v[q];
          tmp.maxntid = v[0] * v[1] * v[2];
        }
      } else if (w == ".minnctapersm" || w == ".maxnreg")
        word();
      else if (w == ".pragma") {
        skipTo(';');
        --p;
        break;
      } else if (w == ".noreturn" || w.empty()) {
        if (w.empty()) err("function header");
      } else {
        while (pk() != '{' && pk() != ';' && pk() != '.') {
          word();
          eat(',');
        }
      }
    }
    Func* g = m.func(name);
    if (eat(';')) {
      if (!g->defined) {
        g->params = tmp.params;
        g->rets = tmp.rets;
        g->entry = entry;
      }
      f = prev;
      sc.pop_back();
      return;
    }
    tmp.name = name;
    tmp.defined = true;
    tmp.maxDynShared = g->maxDynShared;
    *g = std::move(tmp);
    f = g;
    need('{');
    body();
    // implicit ret
    Inst r;
    r.fn = xRet;
    r.line = line;
    f->code.push_back(std::move(r));
    sc.pop_back();
    f->shStatic = (f->shStatic + 15) & ~15u;
    f = prev;
  }
  void body() {  // inside { ... }
    sc.emplace_back();
    for (;;) {
      char c = pk();
      if (c == 0) err("unexpected end");
      if (c == '}') {
        ++p;
        break;
      }
      if (c == '{') {
        ++p;
        body();
        continue;
      }
      if (c == ';') {
        ++p;
        continue;
      }
      if (c == '@') {
        instruction();
        continue;
      }
      if (c == '.') {
        std::string w = word();
        if (w == ".reg" || w == ".local" || w == ".shared" || w == ".param" || w == ".global" ||
            w == ".const")
          declVar(w, false);
        else if (w == ".loc") {
          while (p < src.size() && src[p] != '\n')
            ++p;
        } else if (w == ".pragma")
          skipTo(';');
        else if (w == ".extern") {
          std::string s2 = word();
          declVar(s2, true);
        } else
          skipTo(';');
        continue;
      }
      size_t q = p;
      int l = line;
      std::string w = word();
      if (w.empty()) err("statement expected");
      if (pk() == ':') {
        ++p;  // label, or a prototype / branch-target table
        std::string pw = pk() == '.' ? peekWord() : "";
        if (pw == ".branchtargets" || pw == ".callprototype" || pw == ".calltargets") {
          std::string d = word();
          if (d == ".branchtargets") {
            std::vector<std::string> v;
            do
              v.push_back(word());
            while (eat(','));
            sc.back().btargets[w] = v;
          }
          skipTo(';');
          continue;
        }
        sc.back().labels[w] = (int)f->code.size();
        continue;
      }
      p = q;
      line = l;
      instruction();
    }
    Scope s = std::move(sc.back());
    sc.pop_back();
    for (auto& [ix, n] : s.pend) {
      auto it = s.labels.find(n);
      if (it != s.labels.end())
        f->code[ix].target = it->second;
      else if (sc.size() > 2)
        sc.back().pend.push_back({ix, n});
      else
        throw SimError(E_PTX, "unknown label " + n);
    }
    for (auto& [ix, dmy, n] : s.pendT) {
      auto bt = s.btargets.find(n);
      if (bt != s.btargets.end()) {
        for (auto& L : bt->second) {
          auto it = s.labels.find(L);
          if (it == s.labels.end()) throw SimError(E_PTX, "unknown label " + L);
          f->code[ix].targets.push_back(it->second);
        }
      } else
        sc.back().pendT.push_back({ix, dmy, n});
    }
  }
  void instruction() {
    Inst in;
    ws();
    in.line = line;
    if (eat('@')) {
      bool ng = eat('!');
      std::string w = word();
      Opnd o;
      if (!reg(w, o)) err("predicate " + w);
      in.pr = o.r;
      in.pneg = ng;
    }
    size_t b = p;
    int l0 = line;
    std::string op = word();
    std::vector<PO> a;
    in.line = l0;
    if (pk() != ';') {
      do
        a.push_back(operand());
      while (eat(','));
    }
    need(';');
    try {
      decode(in, op, a);
    } catch (SimError& e) {
      if (std::getenv("CUDASIM_VERBOSE"))
        std::fprintf(stderr, "[cudasim] line %d: cannot decode '%s': %s\n", line, op.c_str(),
                     e.what());
      in.fn = xUnsup;
    }
    (void)b;
    f->code.push_back(std::move(in));
  }
  void decode(Inst& i, const std::string& op, std::vector<PO>& a);
  void decodeMatrix(Inst& i, const std::vector<std::string>& words, std::vector<PO>& a);
  void module() {
    for (;;) {
      char c = pk();
      if (!c) break;
      std::string w = word();
      if (w == ".version")
        word();
      else if (w == ".target") {
        std::string t = word();
        size_t q = t.find("sm_");
        if (q != std::string::npos) m.sm = std::atoi(t.c_str() + q + 3);
        while (eat(','))
          word();
      } else if (w == ".address_size")
        word();
      else if (w == ".visible" || w == ".weak" || w == ".common")
        continue;
      else if (w == ".extern") {
        std::string s = word();
        if (s == ".func")
          function(false);
        else if (s == ".entry")
          function(true);
        else
          declVar(s, s != ".shared");
      } else if (w == ".entry")
        function(true);
      else if (w == ".func")
        function(false);
      else if (w == ".global" || w == ".const" || w == ".shared")
        declVar(w, false);
      else if (w == ".file" || w == ".loc") {
        while (p < src.size() && src[p] != '\n')
          ++p;
      } else if (w == ".section") {
        skipTo('{');
        skipTo('}');
      } else if (w == ".alias" || w == ".pragma")
        skipTo(';');
      else
        err("unknown directive '" + w + "'");
    }
  }
};
}  // namespace cudasim
