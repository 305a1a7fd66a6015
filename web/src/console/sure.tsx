// SPDX-License-Identifier: MIT
// A button for what cannot be taken back: it asks once more, for a few seconds. A double click is one press.
import { useEffect, useRef, useState } from 'preact/hooks';
import { isAccident } from '../logic/press';

const SECONDS = 10;

export function Sure({ text, label, act }: { text: string; label: string; act: () => void }) {
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
    if (isAccident(detail, timeStamp - before)) return;
    setAsking(!asking);
    if (asking) act();
  };
  return (
    <button class={`button small ${asking ? 'asking' : ''}`} aria-label={asking ? `Really: ${label}` : label} onClick={press}>
      {asking ? 'Really?' : text}
    </button>
  );
}
