// SPDX-License-Identifier: MIT
// A button that opens the browser's dialog for files.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

interface Props {
  /** The name of the hidden input. */
  label: string;
  disabled?: boolean;
  onFiles: (files: File[]) => void;
  children: ComponentChildren;
}

export function FileButton({ label, disabled, onFiles, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button class="button grow" type="button" disabled={disabled} onClick={() => input.current?.click()}>
        {children}
      </button>
      <input
        ref={input}
        class="hidden"
        type="file"
        aria-label={label}
        tabIndex={-1}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          currentTarget.value = ''; // so that picking the same file again is a change
          if (files.length) onFiles(files);
        }}
      />
    </>
  );
}
