/** The live page: joins the views to the service. */
import { render } from 'preact';
import { App } from './app.js';
import { startFeed } from './live/live.js';
import { startModels } from './models/models.js';
import { startHistory } from './service/history.js';

const place = document.getElementById('page');
if (place === null) throw new Error('The page has no element for its content.');
render(<App />, place);
startModels();
startFeed();
startHistory();
