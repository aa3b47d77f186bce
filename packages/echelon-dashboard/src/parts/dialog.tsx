import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf } from '../app/api.ts';

interface ConfirmProps {
  /** The button that asks. */
  label: string;
  /** The name of the button, if its label does not stand alone. */
  name?: string;
  title: string;
  /** What will happen, to how many. */
  children: ComponentChildren;
  /** The word on the button that acts. */
  verb: string;
  act: () => Promise<unknown>;
  danger?: boolean | undefined;
  disabled?: boolean;
  /** Whether the action can be done. Default: true. */
  isReady?: boolean;
}

/** A button whose action has consequences: it says them and asks first. */
export function Confirm({ label, name, disabled, ...asking }: ConfirmProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class={asking.danger ? 'danger' : ''}
        aria-label={name}
        disabled={disabled}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {open && <Asking {...asking} onClose={() => setOpen(false)} />}
    </>
  );
}

type AskingProps = Omit<ConfirmProps, 'label' | 'name' | 'disabled'> & { onClose: () => void };

function Asking({ title, verb, act, danger, isReady = true, children, onClose }: AskingProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [state, setState] = useState<{ busy: boolean; error?: string }>({ busy: false });
  useEffect(() => dialog.current?.showModal(), []);
  const run = async () => {
    setState({ busy: true });
    try {
      await act();
      onClose();
    } catch (error) {
      setState({ busy: false, error: failureOf(error).message });
    }
  };
  return (
    <dialog ref={dialog} onClose={onClose} aria-label={title}>
      <h2>{title}</h2>
      {children}
      {state.error && (
        <p class="error" role="alert">
          {state.error}
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Keep as it is
        </button>
        <button
          type="button"
          class={danger ? 'danger solid' : 'primary'}
          disabled={state.busy || !isReady}
          onClick={run}
        >
          {state.busy ? 'Working…' : verb}
        </button>
      </div>
    </dialog>
  );
}
