"""Times of kernels on this GPU: matrix products by shape and type, attention, memory-bound kernels,
and what a copy beside them costs."""
import csv, os, sys, time, torch
from triton.testing import do_bench
OUT = os.environ["OUT"]
T0 = time.time(); LIMIT = float(sys.argv[1])
dev = torch.device("cuda")
torch.manual_seed(1)
p = torch.cuda.get_device_properties(0)
print(p, torch.__version__, flush=True)
f = open(OUT + "/kernels.csv", "w", newline=""); w = csv.writer(f)
w.writerow(["kind", "type", "m", "n", "k", "us"])
def left(): return LIMIT - (time.time() - T0)
def bench(fn, ms=25):
    return do_bench(fn, warmup=8, rep=ms, return_mode="median") * 1e3
def row(*r): w.writerow(r); f.flush()
def bf16(m, n, k, t=torch.bfloat16):
    a = torch.randn(m, k, device=dev, dtype=t); b = torch.randn(n, k, device=dev, dtype=t)
    row("product", "bf16", m, n, k, round(bench(lambda: torch.mm(a, b.t())), 3))
def fp8(m, n, k):
    a = torch.randn(m, k, device=dev).to(torch.float8_e4m3fn); b = torch.randn(n, k, device=dev).to(torch.float8_e4m3fn)
    one = torch.ones((), device=dev)
    row("product", "fp8", m, n, k, round(bench(lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)), 3))
def int8(m, n, k):
    a = torch.randint(-100, 100, (m, k), device=dev, dtype=torch.int8); b = torch.randint(-100, 100, (n, k), device=dev, dtype=torch.int8)
    row("product", "int8", m, n, k, round(bench(lambda: torch._int_mm(a, b.t())), 3))
def tf32(m, n, k):
    torch.backends.cuda.matmul.allow_tf32 = True
    a = torch.randn(m, k, device=dev); b = torch.randn(n, k, device=dev)
    row("product", "tf32", m, n, k, round(bench(lambda: torch.mm(a, b.t())), 3))
def sparse24(m, n, k):
    # weights (n x k) 2:4 sparse times activations (k x m)
    from torch.sparse import to_sparse_semi_structured, SparseSemiStructuredTensor
    b = torch.randn(n, k, device=dev, dtype=torch.bfloat16); mask = torch.tensor([1, 1, 0, 0], device=dev, dtype=torch.bool).tile((n, k // 4))
    s = to_sparse_semi_structured(b * mask); a = torch.randn(m, k, device=dev, dtype=torch.bfloat16).t().contiguous()
    row("product", "sparse24", m, n, k, round(bench(lambda: torch.mm(s, a)), 3))
def csr(m, n, k, density):
    b = torch.randn(n, k, device=dev) * (torch.rand(n, k, device=dev) < density)
    s = b.to_sparse_csr(); a = torch.randn(k, m, device=dev)
    row("product", f"csr{density}", m, n, k, round(bench(lambda: torch.mm(s, a)), 3))
def guarded(fn, *a):
    if left() < 20: return
    try: fn(*a)
    except Exception as e: print(fn.__name__, a, repr(e)[:160], flush=True); torch.cuda.empty_cache()
big = torch.randn(8192, 8192, device=dev, dtype=torch.bfloat16)
for _ in range(40): torch.mm(big, big)
# 1. shapes of transformers: hidden, kv, ffn by tensor parallelism and tokens
for h, ffn, qkv in ((5120, 20480, 15360), (12288, 49152, 36864), (8192, 28672, 10240), (4096, 14336, 6144)):
    for t in (1, 2, 4, 8):
        for tok in (1024, 2048, 4096, 8192):
            guarded(bf16, tok, qkv // t, h); guarded(bf16, tok, h, h // t)
            guarded(bf16, tok, ffn // t, h); guarded(bf16, tok, h, ffn // t)
print("shapes", left(), flush=True)
# 2. quantisation: N in steps of 64 and 256, M = 4096 and 1024; K
for n in range(256, 8449, 256): guarded(bf16, 4096, n, 4096)
for n in range(1024, 2049, 64): guarded(bf16, 2048, n, 4096)
for k in (64, 128, 256, 512, 1024, 2048, 8192, 16384): guarded(bf16, 4096, 4096, k); guarded(bf16, 1024, 1024, k)
for m in (1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768): guarded(bf16, m, 8192, 8192); guarded(bf16, m, 4096, 4096)
for s in (256, 384, 512, 640, 768, 1000, 1024, 1280, 1536, 2048, 3072, 6144, 8192, 12288, 16384): guarded(bf16, s, s, s)
print("quantisation", left(), flush=True)
# 3. types
for m, n, k in ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16, 8192, 8192), (64, 8192, 8192), (256, 8192, 8192), (1024, 8192, 8192),
                (2048, 3840, 5120), (4096, 12288, 1536), (8192, 3584, 8192), (4096, 6144, 12288), (8192, 28672, 8192)):
    for fn in (fp8, int8, tf32, sparse24): guarded(fn, m, n, k)
for m in (128, 512, 2048):
    for d in (0.01, 0.05, 0.1, 0.3): guarded(csr, m, 4096, 4096, d)
print("types", left(), flush=True)
# 4. attention: tokens (batch x heads), sequence, head 128: kind attention, m = heads, n = sequence, k = head size
import torch.nn.functional as F
def attention(heads, s, causal, back):
    q, k, v = (torch.randn(1, heads, s, 128, device=dev, dtype=torch.bfloat16, requires_grad=back) for _ in range(3))
    if not back:
        us = bench(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal))
    else:
        o = F.scaled_dot_product_attention(q, k, v, is_causal=causal); g = torch.randn_like(o)
        us = bench(lambda: torch.autograd.grad(o, (q, k, v), g, retain_graph=True))
    row("attention" + ("_causal" if causal else "") + ("_backward" if back else ""), "bf16", heads, s, 128, round(us, 3))
for heads, s in ((12, 2048), (96, 2048), (8, 8192), (32, 4096), (16, 1024), (64, 8192)):
    for causal in (False, True):
        for back in (False, True): guarded(attention, heads, s, causal, back)
# 5. memory-bound kernels: bytes read and written
def memory(name, fn, n_bytes): row("memory", name, n_bytes, 1, 1, round(bench(fn), 3))
for mb in (1, 4, 16, 64, 256, 1024):
    n = mb * 2**20 // 2; h = 4096
    x = torch.randn(n // h, h, device=dev, dtype=torch.bfloat16); y = torch.empty_like(x); wgt = torch.randn(h, device=dev, dtype=torch.bfloat16)
    guarded(memory, "copy", lambda: y.copy_(x), 2 * x.nbytes)
    guarded(memory, "gelu", lambda: F.gelu(x), 2 * x.nbytes)
    guarded(memory, "layernorm", lambda: F.layer_norm(x, (h,), wgt, wgt), 2 * x.nbytes)
    guarded(memory, "add", lambda: torch.add(x, y), 3 * x.nbytes)
    guarded(memory, "dropout", lambda: F.dropout(x, 0.1), 2 * x.nbytes + n)
a = torch.zeros(1, device=dev)
row("launch", "empty", 1, 1, 1, round(bench(lambda: a.add_(1)), 3))
print("memory", left(), flush=True)
# 6. beside: a kernel of `ctas` blocks that copies for ever, as a communication library's do
import triton, triton.language as tl
@triton.jit
def copier(src, dst, n_words, loops, BLOCK: tl.constexpr):
    pid = tl.program_id(0); step = tl.num_programs(0)
    for l in range(loops):
        for i in range(pid, n_words // BLOCK, step):
            offs = i * BLOCK + tl.arange(0, BLOCK)
            tl.store(dst + offs, tl.load(src + offs))
src = torch.randn(2**28, device=dev); dst = torch.empty_like(src)
side = torch.cuda.Stream()
def alone_and_beside(name, fn, reps, ctas):
    def timed(n):
        s, e = torch.cuda.Event(True), torch.cuda.Event(True); s.record()
        for _ in range(n): fn()
        e.record(); torch.cuda.synchronize(); return s.elapsed_time(e) * 1e3 / n
    timed(3); alone = timed(reps)
    s, e = torch.cuda.Event(True), torch.cuda.Event(True)
    torch.cuda.synchronize()
    # alone copier rate
    with torch.cuda.stream(side):
        s.record(side); copier[(ctas,)](src, dst, 2**26, 4, BLOCK=4096, num_warps=16); e.record(side)
    torch.cuda.synchronize(); copy_us = s.elapsed_time(e) * 1e3
    loops = max(4, int(4 * 1.6 * alone * reps / copy_us) + 1)
    with torch.cuda.stream(side):
        s.record(side); copier[(ctas,)](src, dst, 2**26, loops, BLOCK=4096, num_warps=16); e.record(side)
    time.sleep(0.0005)
    beside = timed(reps); torch.cuda.synchronize(); both = s.elapsed_time(e) * 1e3
    gbs = 2 * 2**28 * 4 / copy_us / 1e3
    row("beside", name, ctas, round(alone, 2), round(gbs, 1), round(beside, 2))
    print(name, ctas, alone, beside, gbs, both, flush=True)
x = torch.randn(2**27, device=dev, dtype=torch.bfloat16); y = torch.empty_like(x)
b1 = torch.randn(8192, 8192, device=dev, dtype=torch.bfloat16); b2 = torch.randn(4096, 4096, device=dev, dtype=torch.bfloat16)
x2 = x.view(-1, 4096); wgt = torch.randn(4096, device=dev, dtype=torch.bfloat16)
q, k, v = (torch.randn(1, 32, 4096, 128, device=dev, dtype=torch.bfloat16) for _ in range(3))
for ctas in (2, 4, 8, 16, 24, 32):
    guarded(alone_and_beside, "product8192", lambda: torch.mm(b1, b1), 30, ctas)
    guarded(alone_and_beside, "product4096", lambda: torch.mm(b2, b2), 200, ctas)
    guarded(alone_and_beside, "attention", lambda: F.scaled_dot_product_attention(q, k, v), 60, ctas)
    guarded(alone_and_beside, "gelu", lambda: F.gelu(x), 100, ctas)
    guarded(alone_and_beside, "layernorm", lambda: F.layer_norm(x2, (4096,), wgt, wgt), 100, ctas)
print("done", left(), flush=True)
