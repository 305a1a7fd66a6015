// SPDX-License-Identifier: MIT
// Builds a network with data that fit it. If a part fails, all new parts are freed.
import type { Kaiseki, Network } from 'kaiseki';
import { checkWork } from './networks';
import * as datasets from './dataset';

export interface Built {
  /** The network as text. */
  json: string;
  network: Network;
  originalData: datasets.Dataset | null;
  /** `originalData` in the network's input shape. */
  data: datasets.Dataset | null;
}

export interface Building {
  /** JSON, or the bytes of an ONNX file. */
  source: string | Uint8Array;
  weights?: Uint8Array;
  /** Draws the weights, if there are none. */
  seed: number;
  /** The data in use. They stay. */
  used: datasets.Dataset | null;
  /** Opens other data. */
  open?: () => Promise<datasets.Dataset>;
}

export async function build(kaiseki: Kaiseki, { source, weights, seed, used, open }: Building): Promise<Built> {
  let network: Network | null = null,
    originalData: datasets.Dataset | null = null;
  try {
    network = await kaiseki.network(source);
    const json = typeof source === 'string' ? source : JSON.stringify(network.json, null, 2);
    checkWork(network);
    if (!network.hasWeights) await network.initialize(seed);
    if (weights) await network.loadWeights(weights);
    originalData = open ? await open() : used;
    const data = originalData && (await datasets.fitDataset(kaiseki, originalData, network));
    return { json, network, originalData, data };
  } catch (error) {
    network?.dispose();
    datasets.dispose([originalData], [used]);
    throw error;
  }
}
