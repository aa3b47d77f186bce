// TypeScript 7 has no JavaScript API; the client's generator gets the last compiler that has one.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? 'typescript-js-api' : specifier, context),
});
