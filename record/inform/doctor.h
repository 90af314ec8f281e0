/* doctor.h - precord --doctor: what can be recorded here, and how to mend what can't. */
#ifndef RECORD_DOCTOR_H
#define RECORD_DOCTOR_H

#include <stdio.h>

/* 0: everything that precord does by default works; 1: something is missing. */
enum doctor_action { DOCTOR_LOOK, DOCTOR_CLEAN };
int doctor_run(FILE *out, enum doctor_action action);

#endif
