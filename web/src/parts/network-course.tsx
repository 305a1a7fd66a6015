// SPDX-License-Identifier: MIT
import { useEffect, useRef, useState } from 'preact/hooks';
import { locate } from '../logic/locate';
import { CHOICES } from '../state/networks';
import type { Session } from '../state/session';
import { Course } from './course';
import { Problem } from './problem';

const OWN = 'own';

export function NetworkCourse({ session }: { session: Session }) {
  const [chosen, choose] = useState(CHOICES[0].id);
  const [json, write] = useState(CHOICES[0].json);
  const take = (id: string) => {
    choose(id);
    const choice = CHOICES.find((one) => one.id === id);
    if (choice) {
      write(choice.json);
      void session.useNetwork(choice.json, choice.learningRate);
    }
  };
  const title = CHOICES.find((choice) => choice.id === chosen)?.title ?? 'Your own';
  return (
    <Course title="Network" choice={title}>
      <fieldset class="choices">
        <legend class="hidden">Network</legend>
        {CHOICES.map((choice) => (
          <label class="option" key={choice.id}>
            <input type="radio" name="network" checked={chosen === choice.id} onChange={() => take(choice.id)} />
            <span><b>{choice.title}</b><small>{choice.about}</small></span>
          </label>
        ))}
        <label class="option">
          <input type="radio" name="network" checked={chosen === OWN} onChange={() => take(OWN)} />
          <span><b>Your own</b><small>Paste a network as JSON.</small></span>
        </label>
      </fieldset>
      {chosen === OWN && <Editor session={session} json={json} write={write} />}
      {chosen !== OWN && <Problem session={session} place="network" />}
    </Course>
  );
}

function Editor({ session, json, write }: { session: Session; json: string; write: (json: string) => void }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const message = session.problems.value.network;
  const line = message ? locate(message, json) : null;
  useEffect(() => {
    if (line === null || !area.current) return;
    const lines = json.split('\n');
    const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    area.current.focus();
    area.current.setSelectionRange(start, start + lines[line - 1].length);
    area.current.scrollTop = Math.max(0, (line - 3) * 18);
  }, [message]);
  return (
    <form class="editor" onSubmit={(event) => { event.preventDefault(); void session.useNetwork(json); }}>
      <label class="field">
        <span>Kaiseki’s format or Sukiyaki’s</span>
        <textarea ref={area} rows={12} spellcheck={false} autocomplete="off" value={json} aria-invalid={Boolean(message)}
                  onInput={(event) => write(event.currentTarget.value)} />
      </label>
      <button class="button" type="submit">Use this network</button>
      <Problem session={session} place="network">
        {line !== null && <p class="excerpt"><span>line {line}</span><code>{json.split('\n')[line - 1].trim().slice(0, 200)}</code></p>}
      </Problem>
    </form>
  );
}
