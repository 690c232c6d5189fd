"""traces.py WHAT [N]: a profiler's trace of N training steps (default: 3) as Kineto lays it out, with a planted defect, on standard output.

Names of kernels are as CUDA's libraries and PyTorch 2.11 give them on an H200; times are drawn.
"""
import json
import random
import sys

KERNELS = {
	"product": "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
	"fp32": "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
	"odd": "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x256_nt_align1>(cutlass_75_tensorop_bf16_s1688gemm_bf16_128x256_nt_align1::Params)",
	"attention32": "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>::Params)",
	"softmax": "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 11, false, false>",
	"layout": "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, false, true>",
	"dropout": "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float, unsigned int, 1, 8, bool>",
	"cast": "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}>",
	"pageable": "Memcpy HtoD (Pageable -> Device)",
	"one": "void at::native::vectorized_elementwise_kernel<4, at::native::addcdiv_cuda_kernel>",
	"nccl": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	"item": "aten::_local_scalar_dense",
}
# kernels of a step beside 200 healthy products of 100 us: (kernel, how many, us each, operator)
PLANTED = {
	"": [],
	"fp32_products": [("fp32", 40, 900, "aten::mm")],
	"fp32_attention": [("attention32", 12, 800, "aten::_efficient_attention_forward")],
	"odd_widths": [("odd", 3, 5700, "aten::mm")],
	"unfused_attention": [("softmax", 24, 300, "aten::_softmax"), ("product", 48, 120, "aten::bmm")],
	"layout": [("layout", 200, 15, "aten::cudnn_convolution")],
	"dropout": [("dropout", 60, 30, "aten::native_dropout")],
	"casts": [("cast", 100, 40, "aten::copy_")],
	"pageable_copies": [("pageable", 1, 9000, "aten::copy_")],
	"exposed_exchange": [("nccl", 4, 2000, "c10d::allreduce_")],
}


def main():
	what, n_steps, rng = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3, random.Random(1)
	out = sys.stdout
	out.write('{\n "schemaVersion": 1,\n "deviceProperties": [\n {\n "id": 0, "name": "NVIDIA H200", "numSms": 132}\n ],\n "traceEvents": [\n')
	host, gpu, number = 1e12, 1e12 + 50, 0
	first = [True]

	def event(**e):
		out.write(("" if first[0] else ",\n") + json.dumps(dict(ph="X", pid=1, **e)))
		first[0] = False

	def launch(kernel, us, op, ahead=True, host_us=6.0):
		nonlocal host, gpu, number
		number += 1
		event(cat="cpu_op", name=op, tid=1, ts=host, dur=host_us, args={"External id": number, "Input Dims": [[4096, 1024], [1024, 4096]]})
		event(cat="cuda_runtime", name="cudaLaunchKernel", tid=1, ts=host + 1, dur=3.0, args={"External id": number, "cbid": 211, "correlation": number})
		host += host_us
		start = max(gpu + 1.0, host + 2)
		took = us * rng.uniform(0.97, 1.03)
		event(cat="gpu_memcpy" if kernel == "pageable" else "kernel", name=KERNELS[kernel], tid=7, ts=start, dur=took, args={"device": 0, "stream": 7, "correlation": number, "grid": [132, 1, 1]})
		gpu = start + took

	if what == "ahead":  # of the step before, which still runs when the first marked one begins
		for _ in range(200):
			launch("product", 100, "aten::mm")
	for k in range(n_steps):
		began = host
		if what == "slow_loader":
			event(cat="user_annotation", name="enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", tid=1, ts=max(host, gpu - 10), dur=30000.0, args={"External id": 9000000 + k})
			host = max(host, gpu - 10) + 30000
		for i in range(200):
			launch("product", 3 if what == "host_bound" else 100, "aten::mm", host_us=40.0 if what == "host_bound" else 6.0)
			if what == "syncs" and i % 10 == 9:
				event(cat="cuda_runtime", name="cudaStreamSynchronize", tid=1, ts=host, dur=max(1.0, gpu - host), args={"cbid": 131, "correlation": 5000000 + number})
				host = max(host, gpu) + 90
		for kernel, n, us, op in PLANTED.get(what, []):
			for _ in range(n):
				launch(kernel, us, op)
		host = max(host, gpu - 500)
		t = host
		if what == "unfused_optimizer":
			host = gpu
			for _ in range(900):
				launch("one", 3, "aten::addcdiv_", host_us=18.0)
		elif what == "optimizer_without_gaps":  # tensors so large that the host keeps up
			for _ in range(400):
				launch("one", 8, "aten::addcdiv_", host_us=2.0)
		else:
			launch("one", 50, "aten::_fused_adamw_")
		event(cat="user_annotation", name="Optimizer.step#AdamW.step", tid=1, ts=t, dur=host - t, args={"External id": 8000000 + k})
		event(cat="user_annotation", name="ProfilerStep#%d" % k, tid=1, ts=began, dur=host - began, args={"External id": 7000000 + k})
	out.write('\n ],\n "traceName": "x"\n}\n')


main()
