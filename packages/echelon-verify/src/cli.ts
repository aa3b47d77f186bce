/** `echelon-verify/cli`: the commands on recorded batches, for another command line. */

export type { TextStreams } from './cli/batch-files.ts';
export { fileCommands, streamsFor } from './cli/file-commands.ts';
export { findingLine } from './cli/finding-line.ts';
export { readBounded } from './cli/read-bounded.ts';
export { signalFile, signalText } from './cli/signal-file.ts';
export { stepLines } from './cli/step-text.ts';
export { type Flags as VerifyFlags, verifyPaths } from './cli/verify-command.ts';
export { resultText } from './cli/verify-files.ts';
