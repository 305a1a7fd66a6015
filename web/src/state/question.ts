// SPDX-License-Identifier: MIT
// A question to the user, which the page shows until it is answered.
import type { Signal } from '@preact/signals';

export interface Question {
  text: string;
  /** The name of the button that means yes. */
  yes: string;
  answer(yes: boolean): void;
}

/** Asks the user. A later question answers an earlier one with no. */
export function ask(shown: Signal<Question | null>, text: string, yes: string): Promise<boolean> {
  shown.value?.answer(false);
  return new Promise((resolve) => {
    const question: Question = {
      text,
      yes,
      answer: (answer) => {
        if (shown.value === question) shown.value = null;
        resolve(answer);
      },
    };
    shown.value = question;
  });
}
