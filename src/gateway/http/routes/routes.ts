import type { Route } from '../routing/route.js';
import { postAgUi } from './agui.js';
import { decideApproval, listApprovals } from './approvals.js';
import { postChat, readChat, resumeChat } from './chat.js';
import { cancelRun, extendRun, pauseRun, resumeRun, sendMessage } from './control-runs.js';
import { followRunEvents } from './follow-run.js';
import { answerQuestion, listQuestions } from './questions.js';
import { listRuns, readRun, readTranscript } from './read-runs.js';
import { serviceRoutes } from './service.js';
import { followSessionEvents, listSessions, readSession, sendToSession, unsendFromSession } from './sessions.js';
import { startRun } from './start-run.js';

const DATA: readonly Route[] = [
  startRun,
  listRuns,
  readRun,
  readTranscript,
  followRunEvents,
  sendMessage,
  cancelRun,
  pauseRun,
  resumeRun,
  extendRun,
  listApprovals,
  decideApproval,
  listQuestions,
  answerQuestion,
  listSessions,
  sendToSession,
  readSession,
  followSessionEvents,
  unsendFromSession,
  postChat,
  resumeChat,
  readChat,
  postAgUi,
];

/** All routes of the gateway, in the order of the reference. */
export const ROUTES: readonly Route[] = [...DATA, ...serviceRoutes(DATA)];
