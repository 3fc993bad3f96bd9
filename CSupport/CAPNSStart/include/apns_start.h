/*
 * start: prepares the process of the command before main, with the functions of CAPNSProcess. It runs in every program
 * that links this module, which declares nothing. No test and no library must link it.
 */
#pragma once
