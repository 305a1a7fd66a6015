// SPDX-License-Identifier: MIT
import { render } from 'preact';
import '../styles/base.css';
import '../styles/layout.css';
import '../styles/parts.css';
import '../styles/pool.css';
import '../styles/console.css';
import '../styles/mandelbrot.css';
import { App } from './app';
import { Author } from './author';

render(<App author={new Author()} />, document.getElementById('page')!);
