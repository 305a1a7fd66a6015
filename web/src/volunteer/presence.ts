// SPDX-License-Identifier: MIT
// Whether somebody uses the machine, if the browser detects it and the user allows it (the Idle Detection API).
import { signal } from '@preact/signals';

interface IdleDetector extends EventTarget {
  userState: 'active' | 'idle' | null;
  screenState: 'locked' | 'unlocked' | null;
  start(options: { threshold: number }): Promise<void>;
}
interface IdleDetectorClass {
  new (): IdleDetector;
  requestPermission(): Promise<'granted' | 'denied'>;
}

const MILLISECONDS = 60_000; // the least that the API allows

const detectorClass = () => (globalThis as { IdleDetector?: IdleDetectorClass }).IdleDetector;

export const canDetectPresence = (): boolean => Boolean(detectorClass());

/** Null: not known. */
export const inUse = signal<boolean | null>(null);

/**
 * Starts to detect. Returns whether the browser allows it. Only a press of the user may `ask` for the permission.
 */
export async function watchPresence(ask: boolean): Promise<boolean> {
  const Detector = detectorClass();
  if (!Detector) return false;
  if (inUse.value !== null) return true;
  try {
    if (ask && (await Detector.requestPermission()) !== 'granted') return false;
    const detector = new Detector();
    const tell = () => (inUse.value = detector.userState === 'active' && detector.screenState !== 'locked');
    detector.addEventListener('change', tell);
    await detector.start({ threshold: MILLISECONDS });
    tell();
    return true;
  } catch {
    return false; // no permission
  }
}
