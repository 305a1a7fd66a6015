// SPDX-License-Identifier: MIT
import '../styles/base.css';
import '../styles/layout.css';
import '../styles/parts.css';
import '../styles/pool.css';
import { App } from './app';
import { mount } from '../parts/mount';
import { watchConnection } from './connection';
import { watchBattery } from './power';
import { Volunteer } from './volunteer';

watchConnection();
mount(<App volunteer={new Volunteer()} />);
void watchBattery();
