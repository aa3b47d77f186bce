import { Command } from 'commander';
import type { Output } from '../output.ts';
export const rayCommand = (_: Output): Command => new Command('ray');
