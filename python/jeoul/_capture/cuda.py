"""Replacements for torch.cuda and other device-dependent parts of torch; installed during a capture and removed afterwards.

They describe a data-centre GPU of compute capability 9.0 with 80 GB; the file does not depend on this choice."""
import importlib
import types

import torch
from torch._subclasses.fake_tensor import FakeTensor

from .function import CUDA0, device_type

CAPABILITY = (9, 0)
MEMORY_B = 80 << 30
NAME = "NVIDIA H100 80GB HBM3"


class Stream:
    """Calls of all streams are recorded in one order."""
    cuda_stream = 0
    stream_id = 0
    device = CUDA0

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None

    def wait_stream(self, other):
        pass

    def wait_event(self, event):
        pass

    def record_event(self, event=None):
        return event or Event()

    def query(self):
        return True

    def synchronize(self):
        STATE[-1].wait("synchronize")


class Event:
    def __init__(self, *args, **kwargs):
        pass

    def record(self, stream=None):
        pass

    def wait(self, stream=None):
        pass

    def query(self):
        return True

    def synchronize(self):
        STATE[-1].wait("synchronize")

    def elapsed_time(self, other):
        return 1.0


class Context:
    """torch.cuda.device, torch.cuda.stream, …: no-op context managers."""
    idx = prev_idx = 0

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


STATE = []  # stack of active captures


def properties(*args):
    return types.SimpleNamespace(name=NAME, major=CAPABILITY[0], minor=CAPABILITY[1], total_memory=MEMORY_B, multi_processor_count=132, warp_size=32,
                                 max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, L2_cache_size=50 << 20, is_integrated=0,
                                 is_multi_gpu_board=0, gcnArchName="", shared_memory_per_block=49152, shared_memory_per_block_optin=232448, uuid="0")


def allocated_B(*args, **kwargs):
    return sum(s.n_B for s in STATE[-1].storages.values() if s.place == "gpu")


def nothing(*args, **kwargs):
    return None


def zero(*args, **kwargs):
    return 0


def stand_ins():
    def wait(*args, **kwargs):
        STATE[-1].wait("synchronize")

    cuda = {"is_available": lambda: True, "device_count": lambda: 1, "current_device": zero, "get_device_name": lambda *a: NAME,
            "get_device_capability": lambda *a: CAPABILITY, "get_device_properties": properties, "set_device": nothing, "synchronize": wait,
            "init": nothing, "_lazy_init": nothing, "is_initialized": lambda: True, "empty_cache": nothing, "ipc_collect": nothing,
            "manual_seed": nothing, "manual_seed_all": nothing, "seed": nothing, "seed_all": nothing, "initial_seed": zero,
            "get_rng_state": lambda *a, **k: torch.get_rng_state(), "set_rng_state": nothing, "get_rng_state_all": lambda: [torch.get_rng_state()],
            "set_rng_state_all": nothing, "memory_allocated": allocated_B, "max_memory_allocated": allocated_B, "memory_reserved": allocated_B,
            "max_memory_reserved": allocated_B, "reset_peak_memory_stats": nothing, "reset_max_memory_allocated": nothing,
            "mem_get_info": lambda *a: (MEMORY_B - allocated_B(), MEMORY_B), "memory_stats": lambda *a, **k: {}, "memory_summary": lambda *a, **k: "",
            "is_bf16_supported": lambda *a, **k: True, "is_tf32_supported": lambda *a: True, "get_arch_list": lambda: ["sm_90"], "current_stream": lambda *a: Stream(),
            "default_stream": lambda *a: Stream(), "Stream": Stream, "ExternalStream": Stream, "Event": Event, "stream": Context, "StreamContext": Context,
            "set_stream": nothing, "device": Context, "device_of": Context, "is_current_stream_capturing": lambda: False, "can_device_access_peer": lambda *a: True,
            "utilization": zero, "set_per_process_memory_fraction": nothing, "_is_compiled": lambda: True, "_sleep": nothing, "cudart": lambda: None}
    out = [(torch.cuda, name, value) for name, value in cuda.items()]
    out += [(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False), (torch._C, "_cuda_getDeviceCount", lambda: 1)]
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        out.append((torch.cuda.nvtx, name, zero))
    out.append((torch.backends.cuda, "is_built", lambda: True))
    if hasattr(torch, "accelerator"):
        accelerator = {"is_available": lambda: True, "current_accelerator": lambda *a, **k: torch.device("cuda"), "device_count": lambda: 1,
                       "current_device_index": zero, "current_device_idx": zero, "set_device_index": nothing, "set_device_idx": nothing,
                       "synchronize": wait, "current_stream": lambda *a: Stream(), "set_stream": nothing, "empty_cache": nothing,
                       "memory_allocated": allocated_B, "max_memory_allocated": allocated_B, "reset_peak_memory_stats": nothing}
        out += [(torch.accelerator, name, value) for name, value in accelerator.items() if hasattr(torch.accelerator, name)]
    return out


def autocast_parts():
    """torch.autocast("cuda") runs as the CPU's autocast, with CUDA's casts (casts.py)."""
    cls = torch.amp.autocast_mode.autocast
    init, enabled, get_dtype, set_enabled, set_dtype = cls.__init__, torch.is_autocast_enabled, torch.get_autocast_dtype, torch.set_autocast_enabled, torch.set_autocast_dtype

    def new_init(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if str(device_type) == "cuda":
            dtype = dtype or torch.float16
            device_type = "cpu"
            if dtype not in (torch.float16, torch.bfloat16):
                enabled, dtype = False, None
        init(self, device_type, dtype, enabled, cache_enabled)

    def mapped(kind):
        return "cpu" if kind in (None, "cuda") else kind

    return [(cls, "__init__", new_init), (torch, "is_autocast_enabled", lambda kind=None: enabled(mapped(kind))),
            (torch, "get_autocast_dtype", lambda kind: get_dtype(mapped(kind)) if kind != "cuda" or enabled("cpu") else torch.float16),
            (torch, "get_autocast_gpu_dtype", lambda: get_dtype("cpu") if enabled("cpu") else torch.float16),
            (torch, "set_autocast_enabled", lambda *a: set_enabled(*((mapped(a[0]), a[1]) if len(a) > 1 else ("cpu", a[0])))),
            (torch, "set_autocast_dtype", lambda kind, dtype: set_dtype(mapped(kind), dtype))]


def picked_parts(state):
    """Places where PyTorch's Python code asks its C++ code for a device."""
    group = torch._C._group_tensors_by_device_and_dtype

    def grouped(lists, with_indices=False):
        with torch._C.DisableTorchFunction():
            found = group(lists, with_indices)
            out = {}
            for (device, dtype), value in found.items():
                first = next((x for x in value[0][0] if x is not None), None)
                out[(CUDA0 if first is not None and state.is_gpu(first) else device, dtype)] = value
            return out

    generator = torch.Generator

    class Checked(type(generator)):
        def __instancecheck__(cls, x):
            return isinstance(x, generator)

    class Generator(generator, metaclass=Checked):
        def __new__(cls, device="cpu"):
            return generator("cpu" if device_type(device) == "cuda" else device)

    inner = FakeTensor.device.fget

    def device(self):
        return CUDA0 if not state.inside and state.is_gpu(self) else inner(self)

    out = [(torch._C, "_group_tensors_by_device_and_dtype", grouped), (torch, "Generator", Generator),
           (FakeTensor, "device", property(device, FakeTensor.device.fset))]
    for module in map(importlib.import_module, ("torch.optim.optimizer", "torch.utils._foreach_utils")):  # only lists of plain tensors use multi-tensor kernels
        if hasattr(module, "_foreach_supported_types"):
            out.append((module, "_foreach_supported_types", [*module._foreach_supported_types, FakeTensor]))
    return out


class Patches:
    """Replaces attributes during a capture."""

    def __init__(self):
        self.saved = []

    def put(self, owner, name, value):
        missing = name not in vars(owner) if isinstance(owner, (type, types.ModuleType)) else not hasattr(owner, name)
        self.saved.append((owner, name, None if missing else getattr(owner, name), missing))
        setattr(owner, name, value)

    def undo(self):
        while self.saved:
            owner, name, value, missing = self.saved.pop()
            if missing:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
