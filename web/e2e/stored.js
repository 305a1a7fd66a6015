// SPDX-License-Identifier: MIT
// The trainings in the browser's IndexedDB.
import { eventually } from './page.js';

/** The steps of all stored trainings, the newest first. */
export const storedSteps = (page) =>
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
            resolve(reading.result.sort((a, b) => b.savedAt - a.savedAt).map(({ history }) => history.step));
          };
        };
      }),
  );

/** Waits until a training with this step is stored. */
export const untilStored = (page, step) =>
  eventually(`step ${step} is stored`, async () => (await storedSteps(page)).includes(step));
