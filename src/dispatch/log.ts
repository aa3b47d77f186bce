/** The part of a pino logger that dispatching uses. */
export interface Log {
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}
