// SPDX-License-Identifier: MIT
// Opens files by their contents: a network, weights or data.
import { purposeOf } from '../logic/formats';
import type { Session } from './session';

/** `expected` is the place of an error if the files are of no known format. */
export async function openFiles(
  session: Session,
  files: readonly File[],
  expected: 'network' | 'weights' | 'data' = 'network',
): Promise<void> {
  try {
    const purpose = await purposeOf(files);
    if (purpose === 'data') return await session.useData({ kind: 'files', files });
    if (purpose === 'weights') return await session.loadWeights(files[0]);
    const bytes = new Uint8Array(await files[0].arrayBuffer());
    const text = /^[\s\xef\xbb\xbf]*[[{]/.test(new TextDecoder('latin1').decode(bytes.subarray(0, 64)));
    await session.useNetwork(text ? new TextDecoder().decode(bytes) : bytes);
  } catch (error) {
    session.notice.value = 'The file is not used';
    session.showProblem(expected, error);
  }
}
