// SPDX-License-Identifier: MIT
// Who computes. Names and devices are what nodes say of themselves: text, nothing else.
import { ago, count, plural, rate } from '../logic/format';
import type { PoolNode } from './api';
import type { Pool } from './pool';
import { Sure } from './sure';

function trust({ trusted, consecutive_valid: valid }: PoolNode): string {
  return [trusted && 'the operator\'s', valid > 0 && `${count(valid)} checked`].filter(Boolean).join(', ') || 'newcomer';
}

function Row({ pool, node }: { pool: Pool; node: PoolNode }) {
  const { name, device, threads, gflops, connected, expelled, leases, accepted, failed } = node;
  return (
    <tr>
      <th scope="row" class="name">{name || 'without a name'}<small>{device}</small></th>
      <td data-label="State" class="state">
        <span class={`badge badge-${expelled ? 'cancelled' : connected ? 'running' : 'paused'}`}>{expelled ? 'expelled' : connected ? 'connected' : 'away'}</span>
      </td>
      <td data-label="Speed">{plural(threads, 'thread')}{gflops > 0 && <small>{rate(gflops)} Gflop/s</small>}</td>
      <td data-label="Trust">{trust(node)}</td>
      <td data-label="Holds" class="number">{count(leases)}</td>
      <td data-label="Accepted" class="number">{count(accepted)}</td>
      <td data-label="Failed" class="number">{failed > 0 ? <b class="bad">{count(failed)}</b> : 0}</td>
      <td data-label="Last seen">{connected ? 'now' : ago(pool.now.value - node.last_seen)}</td>
      {pool.role.value === 'author' && (
        <td class="last">{!expelled && <Sure text="Expel" label={`Expel ${name}`} act={() => void pool.expel(node.node)} />}</td>
      )}
    </tr>
  );
}

export function Nodes({ pool }: { pool: Pool }) {
  const nodes = pool.nodes.value;
  return (
    <section class="plate" aria-label="Nodes">
      <div class="plate-head"><h2>Nodes</h2></div>
      {nodes.length === 0 ? <p class="empty">No node is here. Pages join at /volunteer/, machines with kaiseki join.</p> : (
        <table class="table nodes">
          <thead>
            <tr>
              <th scope="col" class="name">Node</th><th scope="col" class="state">State</th><th scope="col">Speed</th><th scope="col">Trust</th>
              <th scope="col" class="number">Holds</th><th scope="col" class="number">Accepted</th><th scope="col" class="number">Failed</th>
              <th scope="col">Last seen</th>
              {pool.role.value === 'author' && <th scope="col" class="last"><span class="hidden">Actions</span></th>}
            </tr>
          </thead>
          <tbody>{nodes.map((node) => <Row key={node.node} pool={pool} node={node} />)}</tbody>
        </table>
      )}
    </section>
  );
}
