// SPDX-License-Identifier: MIT
// An error at its place in the page, with the library's message. It is scrolled into view.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Place } from '../state/failed';
import type { Session } from '../state/session';
import { Alert } from './alert';

export function Problem({
  session,
  place,
  children,
}: {
  session: Session;
  place: Place;
  children?: ComponentChildren;
}) {
  const text = session.problems.value[place];
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (text) frame.current?.scrollIntoView({ block: 'nearest' });
  }, [text]);
  return (
    <div ref={frame} class="problem-frame">
      <Alert texts={[text]}>{children}</Alert>
    </div>
  );
}
