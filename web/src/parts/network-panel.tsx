// SPDX-License-Identifier: MIT
import { useEffect, useRef, useState } from 'preact/hooks';
import { locate } from '../logic/locate';
import { CHOICES } from '../state/networks';
import type { Session } from '../state/session';
import { openFiles } from '../state/open-files';
import { FileButton } from './file-button';
import { Panel } from './panel';
import { Problem } from './problem';

const OWN = 'own';

const idOf = (json: string): string => CHOICES.find((choice) => choice.json === json)?.id ?? OWN;

export function NetworkPanel({ session }: { session: Session }) {
  const used = session.json.value;
  const [chosen, choose] = useState(CHOICES[0].id);
  const [json, write] = useState(CHOICES[0].json);
  const showUsed = () => {
    choose(idOf(session.json.value));
    write(session.json.value);
  };
  useEffect(showUsed, [used]);
  const take = async (id: string) => {
    choose(id);
    const choice = CHOICES.find((one) => one.id === id);
    if (!choice) return;
    await session.useNetwork(choice.json);
    showUsed();
  };
  const title = CHOICES.find((choice) => choice.id === chosen)?.title ?? 'Your own';
  return (
    <Panel title="Network" choice={title}>
      <fieldset class="choices">
        <legend class="hidden">Network</legend>
        {CHOICES.map((choice) => (
          <label class="option" key={choice.id}>
            <input type="radio" name="network" checked={chosen === choice.id} onChange={() => void take(choice.id)} />
            <span>
              <b>{choice.title}</b>
              <small>{choice.about}</small>
            </span>
          </label>
        ))}
        <label class="option">
          <input type="radio" name="network" checked={chosen === OWN} onChange={() => void take(OWN)} />
          <span>
            <b>Your own</b>
            <small>Paste JSON, or open a JSON or ONNX file.</small>
          </span>
        </label>
      </fieldset>
      {chosen === OWN && <Editor session={session} json={json} write={write} />}
      {chosen !== OWN && <Problem session={session} place="network" />}
    </Panel>
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
    area.current.focus({ preventScroll: true });
    area.current.setSelectionRange(start, start + lines[line - 1].length);
    area.current.scrollTop = Math.max(0, (line - 3) * 18);
  }, [message]);
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        void session.useNetwork(json);
      }}
    >
      <Problem session={session} place="network">
        {line !== null && (
          <p class="excerpt">
            <span>line {line}</span>
            <code>{json.split('\n')[line - 1].trim().slice(0, 200)}</code>
          </p>
        )}
      </Problem>
      <label class="field">
        <span>Kaiseki’s format or Sukiyaki’s</span>
        <textarea
          ref={area}
          rows={12}
          spellcheck={false}
          autocomplete="off"
          value={json}
          aria-invalid={Boolean(message)}
          onInput={(event) => write(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <button class="button grow" type="submit">
          Use this network
        </button>
        <FileButton label="Network file" onFiles={(files) => void openFiles(session, files, 'network')}>
          Open a file
        </FileButton>
      </div>
    </form>
  );
}
