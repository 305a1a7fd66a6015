// SPDX-License-Identifier: MIT
// Whether the machine runs on battery, if the browser reports it.
import { signal } from '@preact/signals';

interface Battery extends EventTarget {
  charging: boolean;
}

/** Null: the browser does not report it. */
export const onBattery = signal<boolean | null>(null);

export async function watchBattery(): Promise<void> {
  const { getBattery } = navigator as { getBattery?: () => Promise<Battery> };
  if (!getBattery) return;
  try {
    const battery = await getBattery.call(navigator);
    const tell = () => (onBattery.value = !battery.charging);
    battery.addEventListener('chargingchange', tell);
    tell();
  } catch {
    // The browser may refuse.
  }
}
