/* doctor.h - precord --doctor: report what can be recorded here, and how to enable the rest. */
#ifndef RECORD_DOCTOR_H
#define RECORD_DOCTOR_H

#include <stdio.h>

enum doctor_action { DOCTOR_CHECK, DOCTOR_CLEAN };
/* Returns 0 if everything works that precord does by default, else 1. */
int doctor_run(FILE *out, enum doctor_action action);

#endif
