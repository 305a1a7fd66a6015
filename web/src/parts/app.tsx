// SPDX-License-Identifier: MIT
import type { Session } from '../state/session';
import { Charts } from './charts';
import { Confusion } from './confusion';
import { DataCourse } from './data-course';
import { Diagram } from './diagram';
import { Draw } from './draw';
import { Header } from './header';
import { Inside } from './inside';
import { NetworkCourse } from './network-course';
import { RunBar } from './run-bar';
import { TrainingCourse } from './training-course';
import { WeightsCourse } from './weights-course';

export function App({ session }: { session: Session }) {
  return (
    <>
      <a class="skip" href="#run">Skip to training</a>
      <Header session={session} />
      <main>
        <RunBar session={session} />
        <div class="courses">
          <NetworkCourse session={session} />
          <DataCourse session={session} />
          <TrainingCourse session={session} />
          <WeightsCourse session={session} />
        </div>
        <div class="plates">
          <Charts session={session} />
          <Draw session={session} />
          <Confusion session={session} />
          <Inside session={session} />
        </div>
        <Diagram session={session} />
      </main>
      <footer>
        Everything runs in this page: pictures, drawings and weights stay on this device.
      </footer>
    </>
  );
}
