// SPDX-License-Identifier: MIT
// A dialog that asks before something is discarded. Escape means no.
import { useEffect, useRef } from 'preact/hooks';
import type { Session } from '../state/session';

export function QuestionDialog({ session }: { session: Session }) {
  const question = session.question.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (question) dialog.current?.showModal();
  }, [question]);
  if (!question) return null;
  return (
    <dialog ref={dialog} class="card question" aria-labelledby="question" onClose={() => question.answer(false)}>
      <p id="question">{question.text}</p>
      <div class="row">
        <button class="button grow" autofocus onClick={() => question.answer(false)}>
          Keep it
        </button>
        <button class="button main grow" onClick={() => question.answer(true)}>
          {question.yes}
        </button>
      </div>
    </dialog>
  );
}
