// SPDX-License-Identifier: MIT
// The place of errors on a page. A screen reader reads them when they appear.
import type { ComponentChildren } from 'preact';
import { Icon } from './icon';

/** Shows each text that is not empty, followed by `children`. */
export function Alert({ texts, children }: { texts: readonly (string | undefined)[]; children?: ComponentChildren }) {
  return (
    <div role="alert" class="problem-place">
      {texts.filter(Boolean).map((text) => (
        <div key={text} class="problem">
          <Icon name="warn" />
          <div>
            <p class="message">{text}</p>
            {children}
          </div>
        </div>
      ))}
    </div>
  );
}
