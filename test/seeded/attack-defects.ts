import type { Defect } from './defects.ts';

const PLACES = 'deploy/ray-worker/echelon_rayworker/checkpointplaces.py';
const STORE_ATTACKS = ['deploy/ray-worker/tests/test_checkpointstore_attacks.py'];
const BACKUP = 'src/store/backup/backup.ts';
const SIGN_INS = ['test/service/http/access/sign-in-limits.test.ts'];

/** Defects that open an attack. */
export const ATTACK_DEFECTS: readonly Defect[] = [
  {
    id: 'link-out-of-the-experiment',
    area: 'ray-worker',
    file: PLACES,
    find: 'absolute = os.path.realpath(os.path.join(self.experiment, path))',
    replace: 'absolute = os.path.normpath(os.path.join(os.path.realpath(self.experiment), path))',
    breaks: 'A link in an experiment leads a download to another directory',
    tests: STORE_ATTACKS,
  },
  {
    id: 'any-endpoint',
    area: 'ray-worker',
    file: PLACES,
    find: '        if _is_metadata(str(address)):\n',
    replace: '        if False:\n',
    breaks: 'The endpoint of a store may be an address of credentials',
    tests: STORE_ATTACKS,
  },
  {
    id: 'manifest-believed',
    area: 'ray-worker',
    file: 'deploy/ray-worker/echelon_rayworker/checkpointstore.py',
    find: 'if hashlib.sha256(data).hexdigest() != self._known.get(step):',
    replace: 'if step not in self._known:',
    breaks: 'A manifest that Echelon did not record is believed',
    tests: STORE_ATTACKS,
  },
  {
    id: 'store-of-the-sender',
    area: 'dispatch',
    file: 'src/engines/checkpoint-stores.ts',
    find: 'return sameParameters && other.path.every((part, at) => one.path[at] === part);',
    replace: 'return other.path.every((part, at) => one.path[at] === part);',
    breaks: 'A spec sends checkpoints to an endpoint of its own',
    tests: ['test/pure/engines/checkpoint-stores.test.ts'],
  },
  {
    id: 'backup-without-an-object',
    area: 'store',
    file: BACKUP,
    find: '    await pMap(items, followed, AT_ONCE);\n',
    replace: '    await pMap(items, followed, { ...AT_ONCE, stopOnError: false }).catch(() => {});\n',
    breaks: 'A backup lacks an object and says nothing',
    tests: ['test/service/store/backup/failures.test.ts'],
  },
  {
    id: 'backup-error-early',
    area: 'store',
    file: BACKUP,
    find: '    await Promise.allSettled(running);\n',
    replace: '',
    breaks: 'A failed backup copies on after its error',
    tests: ['test/service/store/backup/failures.test.ts'],
  },
  {
    id: 'limit-of-a-sign-in',
    area: 'http',
    file: 'src/core/scopes.ts',
    find: 'return person ?? id;',
    replace: 'return id;',
    breaks: 'A person who signs in twice has each limit twice',
    tests: SIGN_INS,
  },
  {
    id: 'keys-of-guests',
    area: 'http',
    file: 'src/http/resources/keys/keys.ts',
    find: 'isLive(key, now) && !isSignIn(key)',
    replace: 'isLive(key, now)',
    breaks: 'Sign-ins of guests keep an administrator from making keys',
    tests: SIGN_INS,
  },
  {
    id: 'sealed-text-longer',
    area: 'http',
    file: 'src/http/access/sessions.ts',
    find: '      if (more.length > 0) return undefined;\n',
    replace: '',
    breaks: 'A sign-in code works again with another ending',
    tests: SIGN_INS,
  },
  {
    id: 'folder-of-a-neighbour',
    area: 'http',
    file: 'src/http/server/own-folder.ts',
    find: "socket.once('connect', () => resolve(true));",
    replace: "socket.once('connect', () => resolve(false));",
    breaks: 'A starting api deletes the uploads of another one',
    tests: ['test/service/http/server/own-folder.test.ts'],
  },
];
