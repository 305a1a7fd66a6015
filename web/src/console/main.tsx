// SPDX-License-Identifier: MIT
import '../styles/base.css';
import '../styles/layout.css';
import '../styles/parts.css';
import '../styles/pool.css';
import '../styles/console.css';
import { App } from './app';
import { mount } from '../parts/mount';
import { Pool } from './pool';

mount(<App pool={new Pool()} />);
