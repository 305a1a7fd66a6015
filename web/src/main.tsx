// SPDX-License-Identifier: MIT
import { load } from 'kaiseki';
import { App } from './parts/app';
import { mount } from './parts/mount';
import { Session } from './state/session';
import { BrowserStore } from './state/store';
import { registerOffline } from './state/offline';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';

const session = new Session(load, new BrowserStore());
document.addEventListener('visibilitychange', () => document.hidden && void session.keep());
addEventListener('beforeunload', (event) => session.losesSteps && event.preventDefault());
void session.open().finally(registerOffline); // it fetches every file again, so it runs after the page has loaded
mount(<App session={session} />);
