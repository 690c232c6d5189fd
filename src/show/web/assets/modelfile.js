// What people drop: config.json as it is; of GGUF and safetensors only the header is read, here, and passed on as a config.
import { files, set } from "/state.js";

function gguf(view) {
  let at = 8;
  const u32 = () => { const v = view.getUint32(at, true); at += 4; return v; };
  const u64 = () => { const v = Number(view.getBigUint64(at, true)); at += 8; return v; };
  const str = () => { const n = u64(); const s = new TextDecoder().decode(new Uint8Array(view.buffer, at, n)); at += n; return s; };
  const sizes = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
  const value = (type) => {
    if (type === 8) return str();
    if (type === 9) { const inner = u32(), n = u64(); if (inner === 8) for (let i = 0; i < n; i++) { const k = u64(); at += k; } else at += n * sizes[inner]; return { length: n }; }
    const v = type === 4 ? view.getUint32(at, true) : type === 5 ? view.getInt32(at, true) : type === 10 ? Number(view.getBigUint64(at, true)) : type === 6 ? view.getFloat32(at, true) : view.getUint8(at);
    at += sizes[type];
    return v;
  };
  u64();
  const n = u64(), meta = {};
  for (let i = 0; i < n; i++) { const key = str(); meta[key] = value(u32()); }
  const a = meta["general.architecture"], of = (k) => meta[`${a}.${k}`];
  return { model_type: "llama", num_hidden_layers: of("block_count"), hidden_size: of("embedding_length"), intermediate_size: of("feed_forward_length"), num_attention_heads: of("attention.head_count"),
    num_key_value_heads: of("attention.head_count_kv") ?? of("attention.head_count"), max_position_embeddings: of("context_length"), vocab_size: meta["tokenizer.ggml.tokens"]?.length ?? of("vocab_size") };
}
function safetensors(header) {
  const shape = (end) => Object.entries(header).find(([k]) => k.endsWith(end))?.[1].shape;
  const layers = new Set(Object.keys(header).map((k) => /layers\.(\d+)\./.exec(k)?.[1]).filter(Boolean)).size;
  const [vocab, hidden] = shape("embed_tokens.weight") ?? [], [q] = shape("q_proj.weight") ?? [], [kv] = shape("k_proj.weight") ?? [], [ffn] = shape("gate_proj.weight") ?? shape("up_proj.weight") ?? [];
  const head = kv % 128 === 0 ? 128 : 64;
  return { model_type: "llama", num_hidden_layers: layers, hidden_size: hidden, intermediate_size: ffn, num_attention_heads: q / head, num_key_value_heads: kv / head, vocab_size: vocab, max_position_embeddings: 8192 };
}
export async function takeModel(file, key = "model") {
  const name = file.name.replace(/[^\w.-]/g, "_").replace(/\.(gguf|safetensors)$/i, ".json");
  const head = new DataView(await file.slice(0, 32 << 20).arrayBuffer());
  let text;
  if (head.byteLength > 8 && head.getUint32(0, true) === 0x46554747) text = JSON.stringify(gguf(head));
  else if (/\.safetensors$/i.test(file.name)) text = JSON.stringify(safetensors(JSON.parse(new TextDecoder().decode(new Uint8Array(head.buffer, 8, Number(head.getBigUint64(0, true)))))));
  else text = await file.text();
  if (text.includes("\0")) throw new Error(file.name); // not text: the caller shows the error
  for (const old of Object.keys(files)) if (old !== "-") delete files[old];
  const to = name.endsWith(".json") ? name : name + ".json";
  files[to] = text;
  set({ [key]: to });
}
