// SPDX-License-Identifier: MIT
import { load } from 'kaiseki';
import { render } from 'preact';
import { App } from './parts/app';
import { Session } from './state/session';
import { registerOffline } from './state/offline';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';

const session = new Session(load);
void session.open().finally(registerOffline);  // which fetches every file again: after what the page waits for
render(<App session={session} />, document.getElementById('page')!);
