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

interface ModalProps {
  label: string;
  class?: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog over the screen; Escape closes it. */
export function Modal({ label, class: own = '', onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class={own} aria-label={label} onClose={onClose}>
      {children}
    </dialog>
  );
}

type AskingProps = Omit<ConfirmProps, 'label' | 'name' | 'disabled'> & { onClose: () => void };

function Asking({ title, verb, act, danger, isReady = true, children, onClose }: AskingProps) {
  const [state, setState] = useState<{ busy: boolean; error?: string }>({ busy: false });
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
    <Modal label={title} onClose={onClose}>
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
    </Modal>
  );
}
