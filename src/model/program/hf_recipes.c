/* Recipes of transformers models, one row per family. Postfix syntax: "x" reads register x, ":x" stores to it, "!x" reads it for the last time;
 * "%x" and "=x" do the same for the step's tensors ("%!x": for the last time). "(name" ... ")" is a module, "@X" another recipe, "&X" all layers.
 * "?v" skips the next token unless v is set, "~v" if it is set. */
#include "program/hf_recipes.h"

#include <stddef.h>

/* Masks as transformers builds them; none if a fused kernel handles the causal mask. */
#define MASK_ROWS "arange:B =b arange:1 drop arange:S add1 :k arange:S add1 :q host:12 "
#define WINDOW                                                                                                         \
	"q view:1,1,S,1 :q q ones_b: :o q ones_b: :n k view:1,1,1,S :k q sub1 :u k !u gt :u !o !u and :o k !q le :c "  \
	"!o !c "                                                                                                       \
	"and :c !n !c and "
#define MASK_REST "and :c %e %b view:B,1,1,1 !k index_b:B,1,1,S :j !c !j and "
#define ALONE                                                                                                          \
	"q view:1,1,S,1 :q q ones_b: :o !k view:1,1,1,S :k k q le :c !o !c and :c %x %b view:1,1,1,1 q "               \
	"index_b:1,1,S,1 :d %x "                                                                                       \
	"%b view:1,1,1,1 k index_b:1,1,1,S :j !d !j eq :j !c !j and =g"
#define MASK       "%a to:b =e " MASK_ROWS "q view:1,1,S,1 :q q ones_b: :o !k view:1,1,1,S :k k q le :c !o !c " MASK_REST "=g"
#define LOCAL_MASK "%a to:b =e " MASK_ROWS WINDOW ":c %e %b view:B,1,1,1 !k index_b:B,1,1,S :j !c !j and =l"
#define PACKED     "%i part:0,1,S sub1 :a !a %i cat2 :a !a part:0,S,1 :b b !b sub ne1 cumsum =x %x"
#define ROPE                                                                                                           \
	"(rotary_emb cast:0 buffer to:f %p to:f bmm tr:1,2 :x x !x cat2 :x x cos mul1 :y !x sin mul1 :z !y "           \
	"@d host:1 =c !z @d =s cast:1 )"
#define ROTATE "x part:0,2 :a x part:1,2 neg !a cat2"

#define GELU_NEW ":x x mul1 x pow:3 mul1 :p x !p add mul1 tanh add1 mul"
#define QKV(q, k, v, after)                                                                                            \
	q " view:B,S,N,D @a tr:1,2 @h :q " k " view:B,S,K,D @b tr:1,2 @i :k " v " view:B,S,K,D tr:1,2 :v " after
#define ROPED "host:2 q @A :r !k @A cache :k !v cache:v :v !r !k !v @S"
#define PLAIN "!k cache :k !v cache:v :v !q !k !v @S"
#define ADD   ":y !x !y add"

const char *const hf_defaults =
	"M (model @E @P &L (norm @N ) ) @H|"
	"E (embed_tokens %i embedding:V,H,t )|"
	"P arange:S add1 view:1,1,S =p @q @R|"
	"q ?p @p ?y @k ?a @m ?j @J ?v @v|"
	"v arange:B drop arange:1 drop arange:S add1 :k arange:S add1 :q host:12 " WINDOW "=l|"
	"p " PACKED " ~y @9 ?y drop|"
	"9 part:0,1,S view:B eq1 all_b: item host:3|"
	"k " MASK_ROWS ALONE "|"
	"m ?O @O " MASK "|"
	"O %a to:b sum_i: eq1 item host:2 %a to:b drop %a sum_i: eq1 item host:1|"
	"J " LOCAL_MASK "|"
	"R " ROPE "|"
	"d to:w view:1,1,S,R|"
	"N :x x to:f :a a pow:2 mean add1 rsqrt :b !a !b mul to:x :h weight !h mul|"
	"L :x (input_layernorm x @N ) (self_attn @T ) " ADD " :x (post_attention_layernorm x @N ) (mlp @F ) " ADD "|"
	"T :x " QKV(
		"(q_proj x lin:N*D,q )", "(k_proj x lin:K*D,q )", "(v_proj !x lin:K*D,q )",
		ROPED) " (o_proj lin:H,o )|"
		       "a ?n @n|b ?n @c|h |i |"
		       "n (q_norm @N )|"
		       "c (k_norm @N )|"
		       "A :x x %c mul " ROTATE " %s mul add|"
		       "S ?x @X ~x @s|"
		       "s ?u @Q ~u @f|"
		       "f ?r @G sdpa tr:1,2 view:B,S,N*D|"
		       "G :v @Y :k !v @Y :v !k !v|"
		       "Y view:B,K,1,S,D expand:B,K,N/K,S,D view:B,N,S,D|"
		       "Q :v :k muls :q ones:S,S tril scalar: scalar: where:S,S :m !k @Y :k !v @Y :v !k tr:2,3 "
		       "muls :k !q view:B*N,S,D !k "
		       "view:B*N,D,S bmm view:B,N,S,S !m add safe_softmax view:B*N,S,S !v view:B*N,S,D bmm "
		       "view:B,N,S,D tr:1,2 clone view:B,S,N*D|"
		       "X ?r @G :v :k view:B*N,S,D !k tr:2,3 view:B*N,D,S bmm view:B,N,S,S mul1 @e dropout "
		       "view:B*N,S,S !v view:B*N,S,D bmm "
		       "view:B,N,S,D tr:1,2 clone view:B,S,N*D|"
		       "e :x x to:f softmax to:x|"
		       "F ?m @W ~m @V|"
		       "V :x (gate_proj x lin:F,b ) (act_fn @t ) :g (up_proj !x lin:F,b ) :u !g !u mul (down_proj "
		       "lin:H,b )|"
		       "t silu|"
		       "H (lm_head lin:V,h,t ) @l ?l @C|"
		       "l |"
		       "C to:f view:T,V %y pad_i:B,Z drop %y clone:! view:T loss|"
		       /* experts: grouped products */
		       "W view:T,H :x (gate x lin:E @r ) :w (experts !x !w @D ) view:B,S,H|"
		       "r to:f softmax topk:T,k @z|z :v v sum :s !v clone:! !s div|"
		       "D ?L @w ~L @y|"
		       /* experts: one after another */
		       "w view:T,k,1 =w =h %h zeros_x =o %I zeros_i:T,k,E %I put_ones view:A,E tr:0,1 :m m sums_i:E "
		       "gt1 "
		       "nonzero:E,1 =n !m cut:0,1 =u each:j %!h drop %!w drop %!n drop %!u drop %!o|"
		       "j host:2 %n eq1 item %n item host:3 %u nonzero:M,2 part:0,2 :t %h t take:M,H xlin:2*X,H "
		       "split:X,X :u (act_fn @t ) :g !g !u mul xlin:H,X %w t take:M,1 mul to:w :c %o !t !c add_rows =o|"
		       "y :w :x %I view:A sort_i:A :p p floor_i:A :t x !t take:A,H :h w view:A p take:A :w %I "
		       "view:A to:j histc:E cumsum_j :o %I view:A ge1 view:A,1 :m %I view:A clamp drop "
		       "!h m masked_fill o gmm:2*X,H m masked_fill split:X,X :u (act_fn @t ) :g !g !u mul !o "
		       "gmm:H,X !m masked_fill "
		       "!w view:A,1 mul arange:A :a p !a p put_i:A :i !p drop !i take:A,H view:T,k,H sum1 to:x";

/* LayerNorm and biases; two products with an activation between them. */
#define LAYER_NORM         "N layernorm"
#define TWO(up, act, down) "F (" up " lin:F,b ) (act " act " ) (" down " lin:H,b )"
#define GEMMA_NORM         "N :x x to:f :a a a pow:2 mean add1 rsqrt mul weight to:f add1 mul to:x"
#define SANDWICH                                                                                                       \
	"L :x (input_layernorm x @N ) (self_attn @T ) (post_attention_layernorm @N ) " ADD                             \
	" :x (pre_feedforward_layernorm x @N ) (mlp @F ) (post_feedforward_layernorm @N ) " ADD
#define PARTIAL "A :z z part:0,R,W :x !z part:1,R,W :p x %c mul " ROTATE " %s mul add !p cat2"
#define AFTER                                                                                                          \
	"L :x (self_attn x @T ) (post_attention_layernorm @N ) " ADD                                                   \
	" :x (mlp x @F ) (post_feedforward_layernorm @N ) " ADD
#define FULL_NORMS                                                                                                     \
	"T :x " QKV("(q_proj x lin:N*D ) (q_norm @N )", "(k_proj x lin:K*D ) (k_norm @N )", "(v_proj !x lin:K*D )",    \
		    ROPED) " (o_proj lin:H )|a |b |"
#define BERT                                                                                                           \
	"M (bert @E @P &L ) @H|" LAYER_NORM "|L :x (attention x @T (output lin:H,b dropout ) x add (LayerNorm @N ) ) " \
	":x (intermediate x lin:F,b gelu ) (output "                                                                   \
	"lin:H,b dropout !x add (LayerNorm @N ) )|"                                                                    \
	"T :x " QKV("(query x lin:H,b )", "(key x lin:H,b )", "(value !x lin:H,b )",                                   \
		    "!q !k !v @S") "|e softmax|6 cut:1,1 view:B,H (pooler lin:H,b tanh ) dropout (classifier lin:2,1 " \
				   ") ?l @5|5 view:B,2 arange:B loss|C view:T,V %y view:T loss|"                       \
				   "H ~c @4 ?c @6|4 (transform lin:H,b gelu (LayerNorm @N ) ) (decoder lin:V,1,t ) "   \
				   "?l @C|P ?a @8|"                                                                    \
				   "8 %a to:b =e " MASK_ROWS                                                           \
				   "%e %b view:B,1,1,1 !k index_b:B,1,1,S expand:B,1,S,S =g|"

const struct hf_family hf_families[] = {
	{ "llama mistral mixtral", NULL, NULL },
	{ "qwen2", NULL, "q=1 o=0" },
	{ "qwen3", NULL, "n=1" },
	{ "qwen3_moe", "r to:f softmax topk:T,k @z to:w", "n=1" },
	{ "granite",
	  "E (embed_tokens %i embedding:V,H,t ) mul1|l div1|L :x (input_layernorm x @N ) (self_attn @T ) mul1 " ADD
	  " :x (post_attention_layernorm x @N ) (mlp @F ) mul1 " ADD,
	  NULL },
	{ "gemma", "E (embed_tokens %i embedding:V,H,t ) mul1|" GEMMA_NORM "|t gelu", "t=1" },
	{ "gemma2", "E (embed_tokens %i embedding:V,H,t ) mul1|" GEMMA_NORM "|t gelu|" SANDWICH "|l div1 tanh mul1",
	  "t=1 O=0" },
	{ "gemma3_text gemma3",
	  "E (embed_tokens %i embedding:V,H,t ) mul1|" GEMMA_NORM "|t gelu|" SANDWICH
	  "|a |b |h @n|i @c|R @1 @1|1 " ROPE,
	  "t=1 n=1" },
	{ "olmo2",
	  FULL_NORMS AFTER "|d view:1,1,S,R|A :x x %c mul " ROTATE
			   " %s mul add to:x|N :x x to:f :a a pow:2 mean add1 rsqrt "
			   ":b !a !b mul :h weight !h mul to:x",
	  "n=0" },
	{ "olmoe", FULL_NORMS "r to:f softmax topk:T,k", "n=0" },
	{ "starcoder2", LAYER_NORM "|" TWO("c_fc", "gelu", "c_proj"), "b=1 q=1 o=1" },
	{ "phi3",
	  PARTIAL "|T (qkv_proj lin:Q ) :z z part:0,N*D,K*D,K*D view:B,S,N,D tr:1,2 :q z part:1,N*D,K*D,K*D "
		  "view:B,S,K,D tr:1,2 :k !z "
		  "part:2,N*D,K*D,K*D view:B,S,K,D tr:1,2 :v " ROPED
		  " (o_proj lin:H )|V (gate_up_proj lin:2*F ) split:F,F :u (act silu ) :g !u !g mul (down_proj lin:H )",
	  NULL },
	{ "gpt_neox",
	  LAYER_NORM
	  "|" PARTIAL
	  "|L :x (input_layernorm x @N ) (attention @T ) :a (post_attention_layernorm x @N ) (mlp @F ) !a add !x "
	  "add|T (query_key_value lin:3*H,b ) view:B,S,N,3*D tr:1,2 split:D,D,D :v :k :q " ROPED
	  " (dense lin:H,b )|" TWO("dense_h_to_4h", "gelu", "dense_4h_to_h"),
	  "f=.25 b=1" },
	{ "phi",
	  LAYER_NORM "|" PARTIAL
		     "|L :x (input_layernorm x @N ) :h (self_attn h @T ) :a (mlp !h @F ) :y !a !y add !x add|"
		     "g " GELU_NEW "|" TWO("fc1", "@g", "fc2"),
	  "f=.5 h=1 b=1 q=1 o=1" },
	{ "falcon",
	  LAYER_NORM
	  "|P arange:S add1 view:1,1,S =p ?a @m ~a @5 @R|5 " MASK_ROWS "k view:S,1 k le view:1,1,S,S "
	  "expand:B,1,S,S =g|L ?g @1 ~g @2|1 :x (ln_attn x @N ) :a (ln_mlp x @N ) :m (self_attention !a @T ) :a (mlp "
	  "!m @F ) !a add !x "
	  "add|2 :x (input_layernorm x @N ) :h (self_attention h @T ) :a (mlp !h @F ) !a add !x add|T ?g @3 ~g @4|3 "
	  "(query_key_value lin:Q,b ) view:B,S,K,G,D :z z take:B,S,K,1,D expand:B,S,K,N/K,D view:B,S,N,D tr:1,2 :k z "
	  "take:B,S,K,1,D "
	  "expand:B,S,K,N/K,D view:B,S,N,D tr:1,2 :v !z cut:3,N/K view:B,S,N,D tr:1,2 :q " ROPED
	  " (dense lin:H,b )|4 (query_key_value lin:Q,b ) view:B,S,N+2,D :z z take:B,S,1,D tr:1,2 :k z take:B,S,1,D "
	  "tr:1,2 :v !z "
	  "cut:2,N tr:1,2 :q " ROPED
	  " (dense lin:H,b )|f sdpa tr:1,2 view:B,S,N*D|s @f|" TWO("dense_h_to_4h", "gelu", "dense_4h_to_h"),
	  "p=0" },
	{ "gpt2",
	  LAYER_NORM "|E (wte %i embedding:V,H,t ) arange:S add1 view:1,S :p (wpe !p embedding:P,H ) add dropout|P @q|"
		     "L :x (ln_1 x @N ) (attn @T ) !x add :x (ln_2 x @N ) (mlp @F ) " ADD
		     "|T (c_attn conv1d:3*H ) split:H,H,H :v :k view:B,S,N,D tr:1,2 :q !k view:B,S,N,D tr:1,2 :k !v "
		     "view:B,S,N,D tr:1,2 "
		     ":v " PLAIN
		     " (c_proj conv1d:H ) dropout|F (c_fc conv1d:F ) (act @g ) (c_proj conv1d:H ) dropout|g " GELU_NEW,
	  "d=.1 z=.1 t=1 O=1" },
	{ "opt",
	  LAYER_NORM "|E (embed_tokens %i embedding:V,H,t ) ~a @7 arange:B,S drop %i add1 :p (embed_positions !p "
		     "embedding:P,H ) add|7 "
		     "ones_f:B,S cumsum_f :o o o mul sub1 to:i drop ones_f:B,S to:b sum_i: eq1 item|P ?a @m|"
		     "L :x (self_attn_layer_norm x @N ) (self_attn @T ) dropout " ADD
		     " view:T,H :x (final_layer_norm x @N ) (fc1 lin:F,b ) relu (fc2 "
		     "lin:H,b ) dropout " ADD " view:B,S,H|"
		     "T :x " QKV("(q_proj x lin:H,b ) mul1", "(k_proj x lin:H,b )", "(v_proj !x lin:H,b )",
				 PLAIN) " (out_proj lin:H,b )",
	  "d=.1 t=1 b=1" },
	{ "bert",
	  BERT "E (word %i embedding:V,H,t ) :w (type %i embedding:2,H ) !w add arange:1,S :p (pos !p embedding:P,H ) "
	       "add (LayerNorm @N ) dropout|",
	  "d=.1 z=.1 b=1 t=1" },
	{ "electra",
	  BERT "E (word %i embedding:V,H,t ) :w (type %i embedding:2,H ) !w add arange:1,S :p (pos !p embedding:P,H ) "
	       "add (LayerNorm @N ) dropout|4 "
	       "(dense lin:H,b gelu (LayerNorm @N ) ) (decoder lin:V,1,t ) ?l @C|6 cut:1,1 view:B,H dropout (dense "
	       "lin:H,b ) gelu dropout (out_proj "
	       "lin:2,1 ) ?l @5",
	  "d=.1 z=.1 b=1 t=1" },
	{ "roberta xlm-roberta camembert",
	  BERT "E %i ne1 to:j cumsum to:j add1 :m m !m mul to:i add1 :p %i p gather_i:B,S drop (word %i "
	       "embedding:V,H,t ) :w (type %i "
	       "embedding:2,H ) !w add (pos !p embedding:P,H ) add (LayerNorm @N ) dropout|6 cut:1,1 view:B,H dropout "
	       "(dense lin:H,b ) tanh dropout "
	       "(out_proj lin:2,1 ) ?l @5",
	  "d=.1 z=.1 b=1 t=1" },
	{ "distilbert",
	  BERT "E (word %i embedding:V,H,t ) arange:1,S :p (pos !p embedding:P,H ) add (LayerNorm @N ) dropout|6 "
	       "cut:1,1 view:B,H (pre lin:H,b ) relu "
	       "dropout (classifier lin:2,1 ) ?l @5|L :x x (attention @T (out_lin lin:H,b ) ) !x add (sa_layer_norm @N "
	       ") :x (ffn x (lin1 lin:F,b ) "
	       "gelu (lin2 lin:H,b ) dropout ) !x add (output_layer_norm @N )",
	  "d=.1 z=.1 b=1 t=1" },
	{ NULL, NULL, NULL },
};
