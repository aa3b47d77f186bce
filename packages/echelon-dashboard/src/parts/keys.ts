import { useEffect, useRef } from 'preact/hooks';

/** Calls the act of a key while the component is shown; not while text is typed, a dialog is open or a modifier is held. */
export function useKeys(acts: Record<string, (() => void) | undefined>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      // Some keyboards reach brackets with Alt Gr, which reports Control and Alt together.
      const isHeld = event.metaKey || event.ctrlKey !== event.altKey;
      if (isHeld || target.closest('input, textarea, select, dialog')) return;
      const act = latest.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
