/* Private to hf_*.c: recipe tokens that are more than a row of the token table. */
#pragma once

#include "program/hf_trace.h"

int hf_elem(const struct hf_trace *t,
	    char c); /* 'f' fp32, 'i' int64, 'j' int32, 'b' bool; otherwise the weights' format */
void hf_copy(struct hf_trace *t, struct hf_val *v, bool recorded);

void hf_linear(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_linear_back(struct hf_trace *t, struct hf_node *node);
void hf_bmm(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_sdpa(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_sdpa_back(struct hf_trace *t, struct hf_node *node);
void hf_norm(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_norm_back(struct hf_trace *t, struct hf_node *node);
void hf_dropout(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_embedding(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_embedding_back(struct hf_trace *t, struct hf_node *node);
void hf_loss(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_loss_back(struct hf_trace *t, struct hf_node *node);
void hf_topk(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_topk_back(struct hf_trace *t, struct hf_node *node);
void hf_take(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_take_back(struct hf_trace *t, struct hf_node *node);
void hf_grouped(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_grouped_back(struct hf_trace *t, struct hf_node *node);
void hf_pick_back(struct hf_trace *t, struct hf_node *node);
void hf_each(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_add_rows(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_add_rows_back(struct hf_trace *t, struct hf_node *node);
void hf_sum1(struct hf_trace *t, const struct hf_op *op, const char *arg);
void hf_sum1_back(struct hf_trace *t, struct hf_node *node);
