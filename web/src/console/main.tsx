// SPDX-License-Identifier: MIT
import { render } from 'preact';
import '../styles/base.css';
import '../styles/layout.css';
import '../styles/parts.css';
import '../styles/pool.css';
import '../styles/console.css';
import { App } from './app';
import { Pool } from './pool';

render(<App pool={new Pool()} />, document.getElementById('page')!);
