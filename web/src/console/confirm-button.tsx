// SPDX-License-Identifier: MIT
// A button that asks for confirmation for a few seconds, for actions that cannot be undone. A double click counts as
// one press.
import { useEffect, useRef, useState } from 'preact/hooks';
import { isRepeatedClick } from '../logic/click';

const SECONDS = 10;

export function ConfirmButton({ text, label, act }: { text: string; label: string; act: () => void }) {
  const [asking, setAsking] = useState(false);
  const pressed = useRef(-Infinity);
  useEffect(() => {
    if (!asking) return;
    const timer = setTimeout(() => setAsking(false), 1000 * SECONDS);
    return () => clearTimeout(timer);
  }, [asking]);
  const press = ({ detail, timeStamp }: MouseEvent) => {
    const before = pressed.current;
    pressed.current = timeStamp;
    if (isRepeatedClick(detail, timeStamp - before)) return;
    setAsking(!asking);
    if (asking) act();
  };
  return (
    <button
      class={`button small ${asking ? 'asking' : ''}`}
      aria-label={asking ? `Really: ${label}` : label}
      onClick={press}
    >
      {asking ? 'Really?' : text}
    </button>
  );
}
