#!/usr/bin/env node
import { isLimited } from './limited.ts';

if (await isLimited()) await import('./program.ts');
