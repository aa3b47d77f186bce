import { spawn } from 'node:child_process';
import { examples } from 'command-kit/examples';
import { json, type Output } from 'command-kit/output';
import type { Command } from 'commander';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';

/** `echelon open`: the dashboard in the browser of this user. */
function openCommand(output: Output): Command {
  return apiCommand('open')
    .description(
      'Open the dashboard in the browser. The command prints a link that signs a browser in once within a minute.',
    )
    .option('--print', 'only print the link')
    .addHelpText('after', examples('echelon open', 'echelon open --print'))
    .action(async (options: ApiOptions & { print?: boolean }) => {
      const client = await clientFor(options);
      const { path, expiresAt } = await client.post('/v1/login-links', {});
      const url = `${client.url}${path}`;
      output.line(options.json ? json({ url, expiresAt }) : url);
      if (options.print || options.json) return;
      const { processEnvironment } = await import('../../main.ts');
      const environment = processEnvironment();
      if (!hasBrowser(environment) || !(await openInBrowser(url, environment)))
        output.remark('No browser was found. Open the link above.');
    });
}

/** True if a graphical browser can appear: without a display, xdg-open would start one in the terminal. */
export function hasBrowser({ DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv): boolean {
  return process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY);
}

/** Starts the opener of this system; false if it is missing. The browser outlives this process. */
export function openInBrowser(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [url], { env, stdio: 'ignore', detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(true));
    child.once('error', () => resolve(false));
  });
}

/** The commands of this module by their names. */
export const commands = { open: openCommand };
