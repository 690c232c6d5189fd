/* A pipeline of stages: 1F1B, plain or interleaved. Closed form, so that the number of stages costs nothing. Pure. */
#pragma once

struct jl_pipeline {
	double n_stages, n_micro;
	double n_chunks; /* model chunks a stage holds (interleaving); 1: plain */
	double first_s, middle_s,
		last_s; /* one micro-batch forward and backward on a stage; first == last when alone */
	double send_s;  /* one activation (or its gradient) to the neighbour */
	double send_overlap_frac;
};

struct jl_pipeline_cost {
	double busy_s;   /* the slowest stage's own work */
	double bubble_s; /* what it waits while the pipeline fills and drains, and for slower neighbours */
	double send_s;   /* transfers that nothing hides */
};

struct jl_pipeline_cost jl_pipeline_cost(const struct jl_pipeline *pipe);

/* Micro-batches whose activations stage `index` (0: the first) keeps at once, in units of one whole stage. */
double jl_pipeline_in_flight(double n_stages, double n_micro, double n_chunks, double index);
