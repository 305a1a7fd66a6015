// SPDX-License-Identifier: MIT
// The limits on this machine's use, kept between visits. Consent is not kept.

export interface Settings {
  threads: number;
  /** The percentage of time that a thread computes. */
  share: number;
  whenHidden: boolean;
  onBattery: boolean;
  /** Whether the page also computes on a metered connection or while data saving is on. */
  onMetered: boolean;
  megabytesAnHour: number;
  megabytesADay: number;
  /** Whether the page computes only while the machine is idle. */
  onlyUnused: boolean;
  name: string;
}

const KEY = 'kaiseki.volunteer';
export const LONGEST_NAME = 40;
export const LEAST_MEGABYTES = 10,
  MOST_MEGABYTES = 1e6;

const within = (value: unknown, least: number, most: number, otherwise: number): number =>
  typeof value === 'number' && value >= least && value <= most ? Math.round(value) : otherwise;

/** Reads the stored settings. Invalid values get their defaults. */
export function readSettings(kept: string | null, cores: number): Settings {
  let given: Partial<Record<keyof Settings, unknown>> = {};
  try {
    given = JSON.parse(kept ?? '{}') ?? {};
  } catch {
    // Another program's value: use the defaults.
  }
  return {
    threads: within(given.threads, 1, cores, Math.max(1, cores >> 1)),
    share: within(given.share, 10, 100, 100),
    whenHidden: given.whenHidden !== false,
    onBattery: given.onBattery === true,
    onMetered: given.onMetered === true,
    megabytesAnHour: within(given.megabytesAnHour, LEAST_MEGABYTES, MOST_MEGABYTES, 200),
    megabytesADay: within(given.megabytesADay, LEAST_MEGABYTES, MOST_MEGABYTES, 1000),
    onlyUnused: given.onlyUnused === true,
    name: typeof given.name === 'string' ? given.name.slice(0, LONGEST_NAME) : '',
  };
}

export function loadSettings(cores: number): Settings {
  try {
    return readSettings(localStorage.getItem(KEY), cores);
  } catch {
    return readSettings(null, cores); // storage is not allowed
  }
}

export function keepSettings(settings: Settings): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Storage is not allowed. The page then starts with the defaults on the next visit.
  }
}
