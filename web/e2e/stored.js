// SPDX-License-Identifier: MIT
// The trainings in the browser's IndexedDB.
import { eventually } from './page.js';

/** The histories of all stored trainings, the newest first. */
const storedHistories = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open('kaiseki');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const database = opening.result;
          const reading = database.transaction('trainings').objectStore('trainings').getAll();
          reading.onerror = () => reject(reading.error);
          reading.onsuccess = () => {
            database.close();
            resolve(
              reading.result
                .sort((a, b) => b.savedAt - a.savedAt)
                .map(({ history }) => ({ step: history.step, accuracy: history.test?.accuracy })),
            );
          };
        };
      }),
  );

/** The steps of all stored trainings, the newest first. */
export const storedSteps = async (page) => (await storedHistories(page)).map(({ step }) => step);

/** The test accuracy of the newest stored training, in percent as the page shows it. */
export const storedAccuracy = async (page) => Number((100 * (await storedHistories(page))[0]?.accuracy).toFixed(1));

/** Waits until a training with this step is stored. */
export const untilStored = (page, step) =>
  eventually(`step ${step} is stored`, async () => (await storedSteps(page)).includes(step));
