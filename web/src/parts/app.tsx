// SPDX-License-Identifier: MIT
import type { Session } from '../state/session';
import { Charts } from './charts';
import { Confusion } from './confusion';
import { DataPanel } from './data-panel';
import { Diagram } from './diagram';
import { Draw } from './draw';
import { Drop } from './drop';
import { Earlier } from './earlier';
import { Header } from './header';
import { Inside } from './inside';
import { NetworkPanel } from './network-panel';
import { QuestionDialog } from './question';
import { RunBar } from './run-bar';
import { TrainingPanel } from './training-panel';
import { WeightsPanel } from './weights-panel';

export function App({ session }: { session: Session }) {
  return (
    <>
      <a class="skip" href="#run">
        Skip to training
      </a>
      <Header session={session} />
      <main>
        <RunBar session={session} />
        <Earlier session={session} />
        <div class="panels">
          <NetworkPanel session={session} />
          <DataPanel session={session} />
          <TrainingPanel session={session} />
          <WeightsPanel session={session} />
        </div>
        <div class="cards">
          <Charts session={session} />
          <Draw session={session} />
          <Confusion session={session} />
          <Inside session={session} />
        </div>
        <Diagram session={session} />
      </main>
      <Drop session={session} />
      <QuestionDialog session={session} />
      <footer>
        Everything runs in this page. Pictures, drawings and weights stay on this device. Files can be dropped anywhere.
      </footer>
    </>
  );
}
