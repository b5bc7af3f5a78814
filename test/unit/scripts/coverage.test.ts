import { expect } from 'chai';
import { uncalledCommands, uncalledRoutes } from '../../../scripts/test/coverage.ts';

const ROUTES = ['GET /a', 'GET /a/{id}', 'GET /a/new', 'GET /a/{id}/files/{*path}', 'POST /a'];

describe('the check of what the everyday tests call', () => {
  it('names the routes that nobody called', () => {
    expect(uncalledRoutes(ROUTES, ['GET /a/7', 'POST /a'])).to.deep.equal([
      'no everyday test calls GET /a',
      'no everyday test calls GET /a/new',
      'no everyday test calls GET /a/{id}/files/{*path}',
    ]);
  });

  it('takes a request for the route that the server takes it for', () => {
    expect(uncalledRoutes(ROUTES, ['GET /a/new'])).to.include('no everyday test calls GET /a/{id}');
    expect(uncalledRoutes(ROUTES, ['GET /a/7/files/x/y.yaml'])).to.have.length(4);
    expect(uncalledRoutes(ROUTES, ['GET /a/7/nothing'])).to.have.length(5);
  });

  it('names the commands that nobody ran', () => {
    const commands = ['config', 'config show', 'login'];
    expect(uncalledCommands(commands, ['config show web', 'login'])).to.deep.equal([]);
    expect(uncalledCommands(commands, ['config list', 'logins'])).to.deep.equal([
      'no everyday test runs hawserctl config show',
      'no everyday test runs hawserctl login',
    ]);
  });
});
