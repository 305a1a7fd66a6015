// SPDX-License-Identifier: MIT
// How much of the machine the page may use; kept between visits. Consent is not kept.

export interface Settings {
  threads: number;
  /** Per cent of the time that a thread computes. */
  share: number;
  whenHidden: boolean;
  onBattery: boolean;
  name: string;
}

const KEY = 'kaiseki.volunteer';
export const LONGEST_NAME = 40;

const within = (value: unknown, least: number, most: number, otherwise: number): number =>
  typeof value === 'number' && value >= least && value <= most ? Math.round(value) : otherwise;

/** What was kept, where it makes sense on a machine with so many cores. */
export function readSettings(kept: string | null, cores: number): Settings {
  let given: Partial<Record<keyof Settings, unknown>> = {};
  try {
    given = JSON.parse(kept ?? '{}') ?? {};
  } catch {
    // Not ours: begin anew.
  }
  return {
    threads: within(given.threads, 1, cores, Math.max(1, cores >> 1)),
    share: within(given.share, 10, 100, 100),
    whenHidden: given.whenHidden !== false,
    onBattery: given.onBattery === true,
    name: typeof given.name === 'string' ? given.name.slice(0, LONGEST_NAME) : '',
  };
}

export function loadSettings(cores: number): Settings {
  try {
    return readSettings(localStorage.getItem(KEY), cores);
  } catch {
    return readSettings(null, cores);  // storage is refused
  }
}

export function keepSettings(settings: Settings): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Not kept, then.
  }
}
