// SPDX-License-Identifier: MIT
import { render } from 'preact';
import '../styles/base.css';
import '../styles/layout.css';
import '../styles/parts.css';
import '../styles/pool.css';
import { App } from './app';
import { watchBattery } from './power';
import { Volunteer } from './volunteer';

render(<App volunteer={new Volunteer()} />, document.getElementById('page')!);
void watchBattery();
