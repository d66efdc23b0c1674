BEGIN TRANSACTION;
CREATE TABLE accounts (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	email TEXT NOT NULL, 
	role TEXT NOT NULL, 
	hash TEXT DEFAULT '' NOT NULL, 
	active INTEGER DEFAULT 1 NOT NULL, 
	created TEXT NOT NULL, 
	place INTEGER DEFAULT 0 NOT NULL, 
	address TEXT DEFAULT '' NOT NULL, 
	issuer TEXT DEFAULT '' NOT NULL, 
	subject TEXT DEFAULT '' NOT NULL, 
	kind TEXT DEFAULT 'person' NOT NULL, 
	analysis INTEGER DEFAULT 1 NOT NULL, 
	renew INTEGER DEFAULT 0 NOT NULL, 
	member_of TEXT DEFAULT '' NOT NULL, 
	provider_groups TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (email)
);
INSERT INTO "accounts" VALUES('reader','Robin Falk','robin@meridale.example','reader','',0,'2026-11-15T12:00:00+00:00',1,'robin@meridale.example','','','person',1,0,'','');
INSERT INTO "accounts" VALUES('author','Avery Lindqvist','avery@meridale.example','author','',1,'2026-11-15T12:00:00+00:00',2,'avery@meridale.example','','','person',1,0,'','');
INSERT INTO "accounts" VALUES('author2','Jonas Mbeki','jonas@meridale.example','author','',1,'2026-11-15T12:00:00+00:00',3,'jonas@meridale.example','','','person',1,0,'','');
INSERT INTO "accounts" VALUES('reviewer','Petra Voss','petra@meridale.example','reviewer','',1,'2026-11-15T12:00:00+00:00',4,'petra@meridale.example','','','person',1,0,'','');
INSERT INTO "accounts" VALUES('reviewer2','Theo Nakamura','theo@meridale.example','reviewer','',1,'2026-11-15T12:00:00+00:00',5,'theo@meridale.example','','','person',1,0,'','');
INSERT INTO "accounts" VALUES('admin','Ada Brandt','ada@meridale.example','admin','',1,'2026-11-15T12:00:00+00:00',6,'ada@meridale.example','','','person',1,0,'','');
INSERT INTO "accounts" VALUES('zoe','Zoë Ünal','zoe@meridale.example','author','$argon2id$v=19$m=65536,t=3,p=4$u+ugDmmtl9D4tuUztqa8Aw$+0fYao6km4PoGt0LCxVF+OlQ1W4FJBgR6ecDw1/nxc0',1,'2026-11-15T12:00:00+00:00',7,'zoe@meridale.example','','','person',1,0,'Finance team','');
CREATE TABLE alembic_version (
	version_num TEXT NOT NULL, 
	PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('35');
CREATE TABLE answer_ranks (
	id INTEGER NOT NULL, 
	doc TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	question TEXT NOT NULL, 
	rank INTEGER NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	commit_id TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE asked (
	id INTEGER NOT NULL, 
	who TEXT NOT NULL, 
	"query" TEXT NOT NULL, 
	link TEXT NOT NULL, 
	starred INTEGER DEFAULT 0 NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (who, "query")
);
INSERT INTO "asked" VALUES(1,'author','photos','d91daada54',1,'2026-11-15T12:00:00+00:00');
INSERT INTO "asked" VALUES(2,'author','leave','b641cc9d4c',0,'2026-11-15T12:00:00+00:00');
CREATE TABLE attempts (
	id INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	at REAL NOT NULL, 
	place TEXT DEFAULT '' NOT NULL, 
	known INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "attempts" VALUES(1,'zoe',1.79478467666596078872e+09,'',0);
CREATE TABLE audit (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at TEXT NOT NULL, 
	who TEXT NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	door TEXT NOT NULL, 
	action TEXT NOT NULL, 
	what TEXT NOT NULL, 
	change INTEGER DEFAULT 0 NOT NULL, 
	commit_id TEXT DEFAULT '' NOT NULL, 
	detail TEXT DEFAULT '' NOT NULL, 
	token TEXT DEFAULT '' NOT NULL, 
	request TEXT DEFAULT '' NOT NULL
);
INSERT INTO "audit" VALUES(1,'2026-11-15T12:00:00+00:00','repository','Repository','admin','repository','commit','Start',0,'fa4e890f2fb9cc00ac0cf2a24d773994d234073c','Ann Author <ann@example.org>','','');
INSERT INTO "audit" VALUES(2,'2026-11-15T12:00:00+00:00','admin','Ada Brandt','admin','app','add account','Zoë Ünal (zoe)',0,'','author','','');
INSERT INTO "audit" VALUES(3,'2026-11-15T12:00:00+00:00','zoe','Zoë Ünal','author','app','sign in','Zoë Ünal',0,'','','','');
INSERT INTO "audit" VALUES(4,'2026-11-15T12:00:00+00:00','zoe','zoe','nobody','app','refuse sign-in','zoe',0,'','wrong name or password','','');
INSERT INTO "audit" VALUES(5,'2026-11-15T12:00:00+00:00','admin','Ada Brandt','admin','app','switch account off','Robin Falk (reader)',0,'','','','');
INSERT INTO "audit" VALUES(6,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','propose','Seven days',1,'','','','');
INSERT INTO "audit" VALUES(7,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','submit','Seven days',1,'','','','');
INSERT INTO "audit" VALUES(8,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','comment','Seven days',1,'','ops/claims.md','','');
INSERT INTO "audit" VALUES(9,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','comment','Seven days',1,'','','','');
INSERT INTO "audit" VALUES(10,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','resolve conversation','Seven days',1,'','1','','');
INSERT INTO "audit" VALUES(11,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','approve','Seven days',1,'','68e999f6ca64133366bcbd24f78a7d0bf4ff4503','','');
INSERT INTO "audit" VALUES(12,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','merge','Seven days',1,'3890cb0ce2db599822e9926a1faa8827e4ef7ec6','','','');
INSERT INTO "audit" VALUES(13,'2026-11-15T12:00:00+00:00','author2','Jonas Mbeki','author','app','propose','Draft of leave',2,'','','','');
INSERT INTO "audit" VALUES(14,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','propose','Token by mail',3,'','','','');
INSERT INTO "audit" VALUES(15,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','submit','Token by mail',3,'','','','');
INSERT INTO "audit" VALUES(16,'2026-11-15T12:00:00+00:00','reviewer2','Theo Nakamura','reviewer','app','comment','Token by mail',3,'','it/vpn.md','','');
INSERT INTO "audit" VALUES(17,'2026-11-15T12:00:00+00:00','reviewer2','Theo Nakamura','reviewer','app','request changes','Token by mail',3,'','d547554c75deffb662964d4440a81a3035cdc4e4','','');
INSERT INTO "audit" VALUES(18,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','propose','Parental leave',4,'','','','');
INSERT INTO "audit" VALUES(19,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','submit','Parental leave',4,'','','','');
INSERT INTO "audit" VALUES(20,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','approve','Parental leave',4,'','fdcfd68832b8db52f21e9f74cef592ed6899e92d','','');
INSERT INTO "audit" VALUES(21,'2026-11-15T12:00:00+00:00','author2','Jonas Mbeki','author','app','propose','No longer',5,'','','','');
INSERT INTO "audit" VALUES(22,'2026-11-15T12:00:00+00:00','author2','Jonas Mbeki','author','app','close','No longer',5,'','Not needed.','','');
INSERT INTO "audit" VALUES(23,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','confirm','VPN',0,'e0243e1569f81c5ce30e7d23dde66f5f1e258454','it/vpn.md until 2027-05-01','','');
INSERT INTO "audit" VALUES(24,'2026-11-15T12:00:00+00:00','admin','Ada Brandt','admin','app','change groups','Zoë Ünal (zoe)',0,'','none to Finance team','','');
INSERT INTO "audit" VALUES(25,'2026-11-15T12:00:00+00:00','author','Avery Lindqvist','author','app','make token','Avery Lindqvist (author)',0,'','nightly export, read, until 2027-02-18','','');
INSERT INTO "audit" VALUES(26,'2026-11-15T12:00:00+00:00','reviewer','Petra Voss','reviewer','app','report a gap','Which token does the VPN ask for?',0,'','','','');
CREATE TABLE calls (
	id INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	model TEXT NOT NULL, 
	input_tokens INTEGER DEFAULT 0 NOT NULL, 
	output_tokens INTEGER DEFAULT 0 NOT NULL, 
	seconds REAL DEFAULT 0 NOT NULL, 
	dollars REAL DEFAULT 0 NOT NULL, 
	cached INTEGER DEFAULT 0 NOT NULL, 
	failed TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "calls" VALUES(1,'2026-11-15T12:00:00+00:00','rerank','openai:small',120,4,0.0,0.0,1,'');
INSERT INTO "calls" VALUES(2,'2026-11-15T12:00:00+00:00','rerank','openai:small',900,5,1.25,2.5,0,'');
CREATE TABLE changes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	title TEXT NOT NULL, 
	description TEXT DEFAULT '' NOT NULL, 
	author TEXT NOT NULL, 
	author_name TEXT NOT NULL, 
	stage TEXT NOT NULL, 
	start TEXT DEFAULT '' NOT NULL, 
	head TEXT DEFAULT '' NOT NULL, 
	merged TEXT DEFAULT '' NOT NULL, 
	reverts INTEGER DEFAULT 0 NOT NULL, 
	bypass TEXT DEFAULT '' NOT NULL, 
	created TEXT NOT NULL, 
	updated TEXT NOT NULL, 
	ended TEXT DEFAULT '' NOT NULL, 
	ended_by TEXT DEFAULT '' NOT NULL
);
INSERT INTO "changes" VALUES(1,'Seven days','Longer.','author','Avery Lindqvist','merged','fa4e890f2fb9cc00ac0cf2a24d773994d234073c','68e999f6ca64133366bcbd24f78a7d0bf4ff4503','3890cb0ce2db599822e9926a1faa8827e4ef7ec6',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','Avery Lindqvist');
INSERT INTO "changes" VALUES(2,'Draft of leave','','author2','Jonas Mbeki','draft','3890cb0ce2db599822e9926a1faa8827e4ef7ec6','','',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','','');
INSERT INTO "changes" VALUES(3,'Token by mail','','author','Avery Lindqvist','in review','3890cb0ce2db599822e9926a1faa8827e4ef7ec6','','',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','','');
INSERT INTO "changes" VALUES(4,'Parental leave','','author','Avery Lindqvist','in review','3890cb0ce2db599822e9926a1faa8827e4ef7ec6','','',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','','');
INSERT INTO "changes" VALUES(5,'No longer','','author2','Jonas Mbeki','closed','3890cb0ce2db599822e9926a1faa8827e4ef7ec6','6120390339685490f1bf581289b84e636fdbc971','',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','Jonas Mbeki');
CREATE TABLE claims (
	name TEXT NOT NULL, 
	holder TEXT NOT NULL, 
	until REAL NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE co_authors (
	change INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	name TEXT NOT NULL, 
	inviter TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (change, account), 
	FOREIGN KEY(change) REFERENCES changes (id)
);
CREATE TABLE comments (
	id INTEGER NOT NULL, 
	change INTEGER NOT NULL, 
	thread INTEGER DEFAULT 0 NOT NULL, 
	path TEXT DEFAULT '' NOT NULL, 
	line INTEGER DEFAULT 0 NOT NULL, 
	last INTEGER DEFAULT 0 NOT NULL, 
	quote TEXT DEFAULT '' NOT NULL, 
	who TEXT NOT NULL, 
	name TEXT NOT NULL, 
	body TEXT NOT NULL, 
	at TEXT NOT NULL, 
	resolved TEXT DEFAULT '' NOT NULL, 
	applied TEXT DEFAULT '' NOT NULL, 
	edited TEXT DEFAULT '' NOT NULL, 
	deleted TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(change) REFERENCES changes (id)
);
INSERT INTO "comments" VALUES(1,1,0,'ops/claims.md',8,8,'Send photos within 7 days. Keep the receipt.','reviewer','Petra Voss','Why?','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','','','');
INSERT INTO "comments" VALUES(2,1,1,'ops/claims.md',0,0,'','author','Avery Lindqvist','Holidays.','2026-11-15T12:00:00+00:00','','','','');
INSERT INTO "comments" VALUES(3,3,0,'it/vpn.md',8,8,'Connect with the client. Write to the desk for a token.','reviewer2','Theo Nakamura','Better:
```suggestion
Connect with the client. Write to the service desk.
```','2026-11-15T12:00:00+00:00','','','','');
CREATE TABLE configurations (
	name TEXT NOT NULL, 
	profile TEXT NOT NULL, 
	config TEXT NOT NULL, 
	who TEXT NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "configurations" VALUES('Words only','local','{"alpha":0.5,"alpha_from":"fixed","alpha_model":"","depth":10,"fusion":"single","hyde":false,"k":10,"legs":["bm25"],"missing":"exact","normalisation":"none","parents":false,"rerank":"off","rerank_blend":0.0,"rerank_depth":20,"rerank_model":"","rerank_prompt":"one-shot","reranker":"cross-encoder","rrf_k":60,"tau":1.0,"weights":{}}','author','2026-11-15T12:00:00+00:00');
CREATE TABLE deliveries (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"key" TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	target TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	message INTEGER DEFAULT 0 NOT NULL, 
	content TEXT NOT NULL, 
	created TEXT NOT NULL, 
	since REAL NOT NULL, 
	state TEXT NOT NULL, 
	attempts INTEGER DEFAULT 0 NOT NULL, 
	due REAL DEFAULT 0 NOT NULL, 
	leased REAL DEFAULT 0 NOT NULL, 
	worker TEXT DEFAULT '' NOT NULL, 
	code INTEGER DEFAULT 0 NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	ended TEXT DEFAULT '' NOT NULL, 
	digest INTEGER DEFAULT 0 NOT NULL, 
	UNIQUE ("key")
);
CREATE TABLE delivery_attempts (
	id INTEGER NOT NULL, 
	delivery INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	seconds REAL NOT NULL, 
	code INTEGER NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(delivery) REFERENCES deliveries (id)
);
CREATE TABLE digests (
	name TEXT NOT NULL, 
	rows INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "digests" VALUES('accounts',7,4112797098968834901);
INSERT INTO "digests" VALUES('alembic_version',1,2154116200766439436);
INSERT INTO "digests" VALUES('answer_ranks',0,0);
INSERT INTO "digests" VALUES('asked',2,-5173081924456380751);
INSERT INTO "digests" VALUES('attempts',1,-3808499536251873349);
INSERT INTO "digests" VALUES('audit',26,5596430314617409266);
INSERT INTO "digests" VALUES('calls',2,-418886143503003810);
INSERT INTO "digests" VALUES('changes',5,4714575695899103156);
INSERT INTO "digests" VALUES('claims',0,0);
INSERT INTO "digests" VALUES('co_authors',0,0);
INSERT INTO "digests" VALUES('comments',3,-6157529365130663362);
INSERT INTO "digests" VALUES('configurations',1,-1218316751497495195);
INSERT INTO "digests" VALUES('deliveries',0,0);
INSERT INTO "digests" VALUES('delivery_attempts',0,0);
INSERT INTO "digests" VALUES('drafts',1,2897555442228841019);
INSERT INTO "digests" VALUES('feedback',0,0);
INSERT INTO "digests" VALUES('findability',0,0);
INSERT INTO "digests" VALUES('gaps',3,2593420983616448783);
INSERT INTO "digests" VALUES('impacts',0,0);
INSERT INTO "digests" VALUES('jobs',6,8862428077872797003);
INSERT INTO "digests" VALUES('judged',2,7175478497328656935);
INSERT INTO "digests" VALUES('looks',0,0);
INSERT INTO "digests" VALUES('mail_choices',0,0);
INSERT INTO "digests" VALUES('mail_keys',0,0);
INSERT INTO "digests" VALUES('messages',1,8457233236556296701);
INSERT INTO "digests" VALUES('model_checks',0,0);
INSERT INTO "digests" VALUES('opted_out',0,0);
INSERT INTO "digests" VALUES('permalinks',2,2055471510009658482);
INSERT INTO "digests" VALUES('pool_additions',0,0);
INSERT INTO "digests" VALUES('queries',0,0);
INSERT INTO "digests" VALUES('queryset_judgments',4,-86565900650373348);
INSERT INTO "digests" VALUES('queryset_questions',3,7585010426576029704);
INSERT INTO "digests" VALUES('querysets',1,6756978372418083289);
INSERT INTO "digests" VALUES('rankings',6,6158280217494499549);
INSERT INTO "digests" VALUES('ratings',0,0);
INSERT INTO "digests" VALUES('reminders',0,0);
INSERT INTO "digests" VALUES('remotes',0,0);
INSERT INTO "digests" VALUES('replies',0,0);
INSERT INTO "digests" VALUES('review_requests',0,0);
INSERT INTO "digests" VALUES('runs',2,-629349249443956864);
INSERT INTO "digests" VALUES('sessions',0,0);
INSERT INTO "digests" VALUES('settlements',0,0);
INSERT INTO "digests" VALUES('tokens',1,-1003586363671882901);
INSERT INTO "digests" VALUES('verdicts',3,-1926797410856704558);
INSERT INTO "digests" VALUES('viewed',0,0);
INSERT INTO "digests" VALUES('watches',0,0);
INSERT INTO "digests" VALUES('webhooks',0,0);
INSERT INTO "digests" VALUES('workers',0,0);
INSERT INTO "digests" VALUES('workspace',1,2224318763532728453);
INSERT INTO "digests" VALUES('sqlite_master',110,4798522475606581994);
CREATE TABLE drafts (
	who TEXT NOT NULL, 
	place TEXT NOT NULL, 
	text TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (who, place)
);
INSERT INTO "drafts" VALUES('author','new','# Half a thought
','2026-11-15T12:00:00+00:00');
CREATE TABLE feedback (
	id INTEGER NOT NULL, 
	path TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	quote TEXT DEFAULT '' NOT NULL, 
	start INTEGER DEFAULT 0 NOT NULL, 
	stop INTEGER DEFAULT 0 NOT NULL, 
	version INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	name TEXT NOT NULL, 
	at TEXT NOT NULL, 
	closed TEXT DEFAULT '' NOT NULL, 
	closed_by TEXT DEFAULT '' NOT NULL, 
	answer TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE findability (
	commit_id TEXT NOT NULL, 
	at TEXT NOT NULL, 
	checked TEXT NOT NULL, 
	questions INTEGER NOT NULL, 
	found INTEGER NOT NULL, 
	within INTEGER NOT NULL, 
	folders TEXT NOT NULL, 
	PRIMARY KEY (commit_id)
);
CREATE TABLE gaps (
	id INTEGER NOT NULL, 
	"query" TEXT NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	who TEXT NOT NULL, 
	hits INTEGER NOT NULL, 
	commit_id TEXT DEFAULT '' NOT NULL, 
	created TEXT NOT NULL, 
	closed TEXT DEFAULT '' NOT NULL, 
	account TEXT DEFAULT '' NOT NULL, 
	source TEXT DEFAULT 'reported' NOT NULL, 
	owner TEXT DEFAULT '' NOT NULL, 
	folder TEXT DEFAULT '' NOT NULL, 
	path TEXT DEFAULT '' NOT NULL, 
	rank INTEGER DEFAULT 0 NOT NULL, 
	writer TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "gaps" VALUES(1,'parking at night','Nobody knows','Avery Lindqvist',0,'e0243e1569f81c5ce30e7d23dde66f5f1e258454','2026-11-15T12:00:00+00:00','','author','reported','','','',0,'');
INSERT INTO "gaps" VALUES(2,'how to fax','','Ada Brandt',0,'','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','admin','reported','','','',0,'');
INSERT INTO "gaps" VALUES(3,'Which token does the VPN ask for?','','Petra Voss',0,'','2026-11-15T12:00:00+00:00','','reviewer','reported','admin','it','',0,'');
CREATE TABLE impacts (
	change INTEGER NOT NULL, 
	head TEXT NOT NULL, 
	main TEXT NOT NULL, 
	created TEXT NOT NULL, 
	result BLOB NOT NULL, 
	PRIMARY KEY (change), 
	FOREIGN KEY(change) REFERENCES changes (id)
);
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	arguments TEXT NOT NULL, 
	state TEXT NOT NULL, 
	done INTEGER DEFAULT 0 NOT NULL, 
	total INTEGER DEFAULT 0 NOT NULL, 
	message TEXT DEFAULT '' NOT NULL, 
	error TEXT DEFAULT '' NOT NULL, 
	result TEXT DEFAULT '' NOT NULL, 
	attempts INTEGER DEFAULT 0 NOT NULL, 
	cancel INTEGER DEFAULT 0 NOT NULL, 
	created TEXT NOT NULL, 
	started TEXT DEFAULT '' NOT NULL, 
	ended TEXT DEFAULT '' NOT NULL, 
	asked TEXT DEFAULT '' NOT NULL, 
	again INTEGER DEFAULT 0 NOT NULL, 
	worker TEXT DEFAULT '' NOT NULL, 
	leased REAL DEFAULT 0 NOT NULL, 
	log TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'reindex','{"full": false, "profile": "local"}','queued',0,0,'','','',0,0,'2026-11-15T12:00:00+00:00','','','',0,'',0.0,'');
INSERT INTO "jobs" VALUES(2,'verify','{}','done',3,3,'Checked','','{"ok": true, "problems": []}',1,0,'2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','',0,'',0.0,'');
INSERT INTO "jobs" VALUES(3,'evaluate','{"pairs": [["", "bm25"]], "queryset": "gone", "unit": "document"}','failed',0,0,'','There is no query set ''gone''. Query sets: small. Make one with: python -m core eval generate','null',1,0,'2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','2026-11-15T12:00:00+00:00','',0,'',0.0,'');
INSERT INTO "jobs" VALUES(4,'generate','{"kind":"known-items","name":"later","per_category":3,"seed":7,"who":"author","door":"app"}','queued',0,0,'','','',0,0,'2026-11-15T12:00:00+00:00','','','',0,'',0.0,'');
INSERT INTO "jobs" VALUES(5,'generate','{"kind":"known-items","name":"by-hand","per_category":3,"seed":7,"who":"robin@localhost","door":"command line"}','queued',0,0,'','','',0,0,'2026-11-15T12:00:00+00:00','','','',0,'',0.0,'');
INSERT INTO "jobs" VALUES(6,'evaluate','{"pairs": [["", "dense"]], "queryset": "small", "unit": "document"}','queued',0,0,'','','',0,0,'2026-11-15T12:00:00+00:00','','','',0,'',0.0,'');
CREATE TABLE judged (
	id INTEGER NOT NULL, 
	"query" TEXT NOT NULL, 
	path TEXT NOT NULL, 
	heading TEXT NOT NULL, 
	quote TEXT NOT NULL, 
	grade INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 3), 
	judge TEXT NOT NULL, 
	blind INTEGER DEFAULT 0 NOT NULL, 
	created TEXT NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE ("query", path, heading, quote, judge)
);
INSERT INTO "judged" VALUES(1,'photos','ops/claims.md','','# Claims Send photos within 7 days. Keep the receipt.',3,'author',0,'2026-11-15T12:00:00+00:00','');
INSERT INTO "judged" VALUES(2,'photos','ops/claims.md','','# Claims Send photos within 7 days. Keep the receipt.',1,'admin',1,'2026-11-15T12:00:00+00:00','');
CREATE TABLE looks (
	who TEXT NOT NULL, 
	change INTEGER NOT NULL, 
	head TEXT NOT NULL, 
	at TEXT NOT NULL, 
	comment INTEGER DEFAULT 0 NOT NULL, 
	"before" TEXT DEFAULT '' NOT NULL, 
	before_at TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (who, change), 
	FOREIGN KEY(change) REFERENCES changes (id)
);
CREATE TABLE mail_choices (
	account TEXT NOT NULL, 
	topic TEXT NOT NULL, 
	choice TEXT NOT NULL, 
	PRIMARY KEY (account, topic)
);
CREATE TABLE mail_keys (
	account TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	PRIMARY KEY (account)
);
CREATE TABLE messages (
	id INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	about TEXT NOT NULL, 
	ref TEXT NOT NULL, 
	title TEXT NOT NULL, 
	place TEXT DEFAULT '{}' NOT NULL, 
	text TEXT DEFAULT '' NOT NULL, 
	actor TEXT NOT NULL, 
	actor_name TEXT NOT NULL, 
	count INTEGER DEFAULT 1 NOT NULL, 
	at TEXT NOT NULL, 
	read TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "messages" VALUES(1,'admin','gap','question','Which token does the VPN ask for?','Which token does the VPN ask for?','{}','','reviewer','Petra Voss',1,'2026-11-15T12:00:00+00:00','');
CREATE TABLE model_checks (
	model TEXT NOT NULL, 
	server TEXT NOT NULL, 
	feature TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	passed INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	fit INTEGER NOT NULL, 
	why TEXT DEFAULT '' NOT NULL, 
	seconds REAL DEFAULT 0 NOT NULL, 
	at TEXT NOT NULL, 
	forced_by TEXT DEFAULT '' NOT NULL, 
	reason TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (model, server, feature)
);
CREATE TABLE opted_out (
	account TEXT NOT NULL, 
	PRIMARY KEY (account)
);
CREATE TABLE permalinks (
	id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	who TEXT NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "permalinks" VALUES('d91daada54','{"blind":false,"columns":[{"config":{"alpha":0.5,"alpha_from":"fixed","alpha_model":"","depth":10,"fusion":"single","hyde":false,"k":10,"legs":["bm25"],"missing":"exact","normalisation":"none","parents":false,"rerank":"off","rerank_blend":0.0,"rerank_depth":20,"rerank_model":"","rerank_prompt":"one-shot","reranker":"cross-encoder","rrf_k":60,"tau":1.0,"weights":{}},"name":"Words only","profile":"local"}],"document":"","filters":{"docs":[],"folders":[],"freshness":[],"history":false,"owners":[],"statuses":[],"tags":[],"types":[]},"query":"photos","tool":""}','author','2026-11-15T12:00:00+00:00');
INSERT INTO "permalinks" VALUES('b641cc9d4c','{"blind":false,"columns":[{"config":{"alpha":0.5,"alpha_from":"fixed","alpha_model":"","depth":10,"fusion":"single","hyde":false,"k":10,"legs":["bm25"],"missing":"exact","normalisation":"none","parents":false,"rerank":"off","rerank_blend":0.0,"rerank_depth":20,"rerank_model":"","rerank_prompt":"one-shot","reranker":"cross-encoder","rrf_k":60,"tau":1.0,"weights":{}},"name":"Words only","profile":"local"}],"document":"","filters":{"docs":[],"folders":[],"freshness":[],"history":false,"owners":[],"statuses":[],"tags":[],"types":[]},"query":"leave","tool":""}','author','2026-11-15T12:00:00+00:00');
CREATE TABLE pool_additions (
	id INTEGER NOT NULL, 
	"query" TEXT NOT NULL, 
	path TEXT NOT NULL, 
	heading TEXT NOT NULL, 
	quote TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	new_document INTEGER NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE ("query", path, heading, quote)
);
CREATE TABLE queries (
	id INTEGER NOT NULL, 
	question TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	at TEXT NOT NULL, 
	hits INTEGER NOT NULL, 
	score REAL NOT NULL, 
	doubtful INTEGER NOT NULL, 
	commit_id TEXT NOT NULL, 
	opened INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE queryset_judgments (
	id INTEGER NOT NULL, 
	queryset INTEGER NOT NULL, 
	question TEXT NOT NULL, 
	path TEXT NOT NULL, 
	heading TEXT DEFAULT '[]' NOT NULL, 
	quote TEXT DEFAULT '' NOT NULL, 
	grade REAL NOT NULL, 
	source TEXT NOT NULL, 
	judge TEXT DEFAULT '' NOT NULL, 
	created TEXT NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (queryset, question, path, heading, quote, source, judge), 
	FOREIGN KEY(queryset) REFERENCES querysets (id)
);
INSERT INTO "queryset_judgments" VALUES(1,1,'q1','ops/claims.md','["Claims"]','Send photos within 7 days.',2.0,'person','author','2026-11-15T12:00:00+00:00','');
INSERT INTO "queryset_judgments" VALUES(2,1,'q2','it/vpn.md','[]','',1.0,'import','','2026-11-15T12:00:00+00:00','');
INSERT INTO "queryset_judgments" VALUES(3,1,'q3','hr/leave.md','[]','',1.0,'import','','2026-11-15T12:00:00+00:00','');
INSERT INTO "queryset_judgments" VALUES(4,1,'q1','hr/leave.md','[]','',0.0,'person','admin','2026-11-15T12:00:00+00:00','');
CREATE TABLE queryset_questions (
	queryset INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	category TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (queryset, id), 
	FOREIGN KEY(queryset) REFERENCES querysets (id)
);
INSERT INTO "queryset_questions" VALUES(1,'q1',0,'how fast to send photos','claims');
INSERT INTO "queryset_questions" VALUES(1,'q2',1,'who gives a token','it');
INSERT INTO "queryset_questions" VALUES(1,'q3',2,'when to ask for leave','');
CREATE TABLE querysets (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	about TEXT DEFAULT '' NOT NULL, 
	guidelines TEXT DEFAULT '' NOT NULL, 
	who TEXT DEFAULT '' NOT NULL, 
	created TEXT NOT NULL, 
	problems TEXT DEFAULT '[]' NOT NULL, 
	guard INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "querysets" VALUES(1,'small','three questions','Read the question, then the passage. 2: it answers the question. 1: it helps, but more is needed. 0: it does not help. Judge the passage, not the document around it, and do not guess what the system meant.','Avery Lindqvist','2026-11-15T12:00:00+00:00','[]',0);
CREATE TABLE rankings (
	search TEXT NOT NULL, 
	"query" TEXT NOT NULL, 
	result BLOB NOT NULL, 
	PRIMARY KEY (search, "query")
);
INSERT INTO "rankings" VALUES('legs-6778152ce70bb1d5','how fast to send photos',X'789C4D4ECD0E8330087E17CED84029B6F82AC68BB3D9656E87EE667CF7A166CB920F12F87E608347BD37183698D7A8308C639C70E45034B3714AE28856C497847CF440E8355D0D96FA6CF5B4E1975731512BA54866323D84D85160D244167B662D1CAD57179FE8D8937684F5EF0D97734E08759DEB028386DED37ED79C8D246EB9BDDADBC7FD03E9B43113');
INSERT INTO "rankings" VALUES('legs-6778152ce70bb1d5','who gives a token',X'789C4D4E310EC33008FC0BB35B816D62C857AC2C69AC2E753BB85B94BF173B55550910C7DD013B3CCABDC1BCC35A3DC39C332D2EE35505C5AB0F224A13D2D487CE0F0A9DE57216D8CAB3956E43475F9EBCA26A8C81394A121F4C4A948489821045B5BDA73B8FB890F58783FAF786D1C941A96BD906600CBF5B1DB29AE1F66A6F83C707904C30AA');
INSERT INTO "rankings" VALUES('legs-6778152ce70bb1d5','when to ask for leave',X'789C4D8E310EC3300845EFE2D9B5C080C1B98A95258DD5A56987748B72F75257AA2A01D2FF82F739C2BDDFF6301D61D9B284A9358838C786A98A9A482DB51465628D905801800A71A998C9D8F7B2372498E31861ED8FBD7F2979702089531840D0B2287E30C468862A6460456DA051DD719F49910094FC76D4051D7CC6B0FD3DE9595A63E8DBD2D7A184F32F7BC8EA17D7E7FE7279BE01375D371C');
INSERT INTO "rankings" VALUES('390765b373416560','how fast to send photos',X'789C258EC10E83201044FF65CF1BC28228F82B4D0F8A6B6B8C9880A64D8CFF5EA07BDB993799B9C0BFCFB026E81F0A25D21321F93D7211484894425AEA1AB22D1947648CD645CB98DFC3BC4C1C3C435F48D872E6827153067A2928A710781B7982DE88D6EA0E21E389ABABA44698CFFFA71B6DACCB6795CB55AE45881C87B056549A1BE133C4B084579955BBD3913D8483BF47D5EE1F1A8536B3');
INSERT INTO "rankings" VALUES('390765b373416560','who gives a token',X'789C658E3D0E83300C85EFE2D94226C180B94AD501826911224804D44A88BB3784B18387EFFD58EF00F7DEFD14A079E448689E08C12DAB5E0265C26561B91091DC92A991328E4731E4163F8CBD7AA7D0FCE7608EFD03BAD9F0655385A073A77D02268B10AB416F644118F69B4C65F3A28E7F6A61E29211565D5B3FA5A49472227CDAD58FFE750D4C3BC2164D844DBF5BD2CE1F082438E0');
INSERT INTO "rankings" VALUES('390765b373416560','when to ask for leave',X'789C2D8E4B0E83300C44EFE2B5859C7FC255AA2E208416218294805A0971F72650EFE6CD8CED03FC7B8F7386F641C8903F11B25F53A8803584D4304E248859ADAC74C2315B58414E48C1B9E5529012A6D4FC1AC76908D107686B1396B2E3807EE10A5A6AC83884B0F461B894921CA1A473F8CBE28EFBAD98D6D21957C76ACBB54448217571BEA3469E089F2EC529BEEA9BD7EDBC1513610BDFED62E70FF1F539F9');
CREATE TABLE ratings (
	id INTEGER NOT NULL, 
	"query" TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	answer TEXT NOT NULL, 
	rating TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE ("query", kind, judge)
);
CREATE TABLE reminders (
	account TEXT NOT NULL, 
	path TEXT NOT NULL, 
	review_due TEXT NOT NULL, 
	state TEXT NOT NULL, 
	PRIMARY KEY (account, path, review_due, state)
);
CREATE TABLE remotes (
	name TEXT NOT NULL, 
	url TEXT NOT NULL, 
	branch TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	trust INTEGER DEFAULT 0 NOT NULL, 
	change INTEGER DEFAULT 0 NOT NULL, 
	pushed TEXT DEFAULT '' NOT NULL, 
	fetched TEXT DEFAULT '' NOT NULL, 
	tried TEXT DEFAULT '' NOT NULL, 
	failures INTEGER DEFAULT 0 NOT NULL, 
	error TEXT DEFAULT '' NOT NULL, 
	rewritten TEXT DEFAULT '' NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE replies (
	caller TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	request TEXT NOT NULL, 
	status INTEGER DEFAULT 0 NOT NULL, 
	headers TEXT DEFAULT '{}' NOT NULL, 
	body TEXT DEFAULT '' NOT NULL, 
	at REAL NOT NULL, 
	PRIMARY KEY (caller, "key")
);
CREATE TABLE review_requests (
	change INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	name TEXT NOT NULL, 
	asker TEXT NOT NULL, 
	rule TEXT DEFAULT '' NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (change, account), 
	FOREIGN KEY(change) REFERENCES changes (id)
);
CREATE TABLE runs (
	id TEXT NOT NULL, 
	queryset TEXT NOT NULL, 
	queryset_digest TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	search TEXT NOT NULL, 
	profile TEXT NOT NULL, 
	config TEXT NOT NULL, 
	generation INTEGER NOT NULL, 
	commit_id TEXT NOT NULL, 
	facts TEXT NOT NULL, 
	results BLOB NOT NULL, 
	created TEXT NOT NULL, 
	place INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('f7061ce23198','small','a032e41601f7','document','786ed5bbc60f6110','local','5068b5db42b9',2,'e0243e1569f81c5ce30e7d23dde66f5f1e258454','{"id": "f7061ce23198", "queryset": "small", "queryset_digest": "a032e41601f7", "unit": "document", "profile": "local", "profile_digest": "87d89c160a", "config": {"legs": ["bm25"], "depth": 10, "normalisation": "none", "fusion": "single", "alpha": 0.5, "rrf_k": 60, "weights": {}, "missing": "exact", "rerank": "off", "tau": 1.0, "rerank_depth": 20, "k": 10, "reranker": "cross-encoder", "rerank_model": "", "rerank_prompt": "one-shot", "rerank_blend": 0.0, "hyde": false, "alpha_from": "fixed", "alpha_model": "", "parents": false}, "config_digest": "5068b5db42b9", "generation": 2, "commit": "e0243e1569f81c5ce30e7d23dde66f5f1e258454", "models": [], "created": "2026-11-15T12:00:00+00:00", "seconds": 0.052, "questions": 3, "unmapped": [], "figures": {"nDCG@10": 1.0, "Recall@5": 1.0, "Recall@10": 1.0, "Recall@100": 1.0, "MRR@10": 1.0, "MAP@10": 1.0, "P@1": 1.0, "P@5": 0.2, "Judged@10": 0.833333, "AT1S": 1.598626, "T1EM": 1.0, "T5EM": 1.0, "T1C": 1.0, "BC": 1.0, "AC": 1.0, "MC": 1.0, "SpanMRR": 1.0}, "times": {"bm25": {"p50": 0.079, "p95": 0.114}, "fuse": {"p50": 0.092, "p95": 0.124}, "total": {"p50": 0.171, "p95": 0.238}}, "warnings": [], "cost": 0.0, "results": null}',X'789CCD934D6BDB401086FF8AD8B3B0F74BFBE153DCB4140A86E2F8167C584B235944D62ADAB5D312FADF3B327614BB69686F0109DED9196666DF87BD7F268F7B08B1F62D993D93BA2033F2C8484A22FC88A8B7FE29295D8849F44980B648BAAD8F3E6041EE2254BEFF894579E3EA5D20BF5272700D761B3AB59F6FBFDE304A666C4253B284DC35CD4D76195EA7193D1F2C96CB31BB987F1F03942F0ADBD1094FC9B77D514131D6CC57EC6E9026D3CC3229057E2959B12F8B53C12A1B25BB3DA94F67313F8BC559DC75AEC5958E11DEB2F0F97E076DC48BDE13DF85E9C980754A3A1782ABE09829D8064A61722185D3AC2887FCEE68CE66C78FBB33A6654ACA7D8063C4B516CA5AABB95528258ECA7D5BD605B4399C56297D53408FA6E3DC0193AB8659EBA132C4A10B2EF816533E327DDAFAA4AA0F101287581FA0BDA459C78F46924EACA1865B2E8CB1FC1A401DA787AEBD365F6A30CC582944964B4EED9FE6533D5A4F8D3242A2F586E12F957AD77A74E83F9C17AF9D877678492E3C24A5EF9306DC012EDDFF10DED34936BE229B6993655659A5F4B5F7DB7E7ABEC3DB18E826032DA546028A49C8B0F05FC8D857682C974A0C6814C755B87917CDB6FF0B9AF56FAC375776','2026-11-15T12:00:00+00:00',1);
INSERT INTO "runs" VALUES('a62d291d859d','small','a032e41601f7','document','390765b373416560','local','c1d85ef126df',2,'e0243e1569f81c5ce30e7d23dde66f5f1e258454','{"id": "a62d291d859d", "queryset": "small", "queryset_digest": "a032e41601f7", "unit": "document", "profile": "local", "profile_digest": "87d89c160a", "config": {"legs": ["bm25", "dense"], "depth": 10, "normalisation": "minmax", "fusion": "convex", "alpha": 0.5, "rrf_k": 60, "weights": {}, "missing": "exact", "rerank": "always", "tau": 1.0, "rerank_depth": 20, "k": 10, "reranker": "cross-encoder", "rerank_model": "", "rerank_prompt": "one-shot", "rerank_blend": 0.0, "hyde": false, "alpha_from": "fixed", "alpha_model": "", "parents": false}, "config_digest": "c1d85ef126df", "generation": 2, "commit": "e0243e1569f81c5ce30e7d23dde66f5f1e258454", "models": ["bge-small-en-v1.5-int8", "ms-marco-minilm-l12-int8"], "created": "2026-11-15T12:00:00+00:00", "seconds": 0.027, "questions": 3, "unmapped": [], "figures": {"nDCG@10": 1.0, "Recall@5": 1.0, "Recall@10": 1.0, "Recall@100": 1.0, "MRR@10": 1.0, "MAP@10": 1.0, "P@1": 1.0, "P@5": 0.2, "Judged@10": 0.444444, "AT1S": 0.985478, "T1EM": 1.0, "T5EM": 1.0, "T1C": 1.0, "BC": 1.0, "AC": 0.333333, "MC": 1.0, "SpanMRR": 1.0}, "times": {"bm25": {"p50": 0.079, "p95": 0.114}, "embed": {"p50": 0.054, "p95": 5.121}, "dense": {"p50": 0.056, "p95": 0.114}, "fuse": {"p50": 0.273, "p95": 0.337}, "rerank": {"p50": 0.097, "p95": 0.104}, "total": {"p50": 0.546, "p95": 5.788}}, "warnings": [], "cost": 0.0, "results": null}',X'789CCD94C16EA33010865F05F98C121B6CC039359BAD2AAD146995F656E5E0C090A0804D31497755EDBBEF40438024AA72AC4F33F630F6CCF70FAF1FE4ED00B6CE8C26B30F92256446DE1871490D7F6AB477E6DD4995AD9DDA381674E2943B531B8B01B1AA616BAABF1814E72A2B2CF9E792A3CA315B9349FF5C3C3D304A666C425DB28258E5F98318BB97C78C761BCBD5AA3F5DCE7FF70E9A670BD3D189E7925F87640B491B432741BF4297CC5FD8F329FE853D2E3B53F4265B9CAC1F9D315F3479FCC1C2377487CFA5D2F8BAD6C38213131F0AD035D6FC4A4C69A7A75EB864574D7350474033ABA7C75293B54B4A65ADDA421B9DB00DA47E14FBDC57214B520CA41B0121E7A14765C03808DCE221442C92DCF745CC71BFC952B41DDE145EDB00C642EE12283680F0C424887CAC3B016DA13DF5283E3F3D7C7A78978824AEC8931CD3062EA9A0527ADF86528115C546A7197E1EC3A9E2D4E409548819CB6B84A1B6CDF3D74DA4458960176E69C8EB35F4BE33CE363B827514CA680F7AAC9EACFE26CA1913FF540E9D481160D338F68CF997C04F6047B00722B8007E85F226F02B595C01A7E119373AA2E17BC64D85903D6E2FF4196F784752501188216DBC515EE0EE8A1503E848E76EE6FE9039E8E69FA1ECDE494DE574DD1970FFC6D46FCCF6F5387F85FA9E41BE0FB51CB1E6DE88351FB06641C06528DBE10E222FE023D822E45FCEF6AEBA8979FD1FFD9BA971','2026-11-15T12:00:00+00:00',2);
CREATE TABLE sessions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	digest TEXT NOT NULL, 
	account TEXT NOT NULL, 
	issuer TEXT DEFAULT '' NOT NULL, 
	subject TEXT DEFAULT '' NOT NULL, 
	device TEXT DEFAULT '' NOT NULL, 
	created TEXT NOT NULL, 
	seen TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	UNIQUE (digest), 
	FOREIGN KEY(account) REFERENCES accounts (id)
);
CREATE TABLE settlements (
	"key" TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	who TEXT NOT NULL, 
	name TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE tokens (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	account TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	created TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	used TEXT DEFAULT '' NOT NULL, 
	revoked TEXT DEFAULT '' NOT NULL, 
	made_by TEXT NOT NULL, 
	folders TEXT DEFAULT '' NOT NULL, 
	FOREIGN KEY(account) REFERENCES accounts (id), 
	UNIQUE (digest)
);
INSERT INTO "tokens" VALUES(1,'author','nightly export','read','cf0428d1a3bd3ebbc96e62cf079c5cb292a0a0ec6fdcbe0db3a4db6172631fe3','concord_krpOpwaO','2026-11-20T01:00:57+00:00','2027-02-18T01:00:57+00:00','','','author','it');
CREATE TABLE verdicts (
	id INTEGER NOT NULL, 
	change INTEGER NOT NULL, 
	who TEXT NOT NULL, 
	name TEXT NOT NULL, 
	head TEXT NOT NULL, 
	verdict TEXT NOT NULL, 
	note TEXT DEFAULT '' NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(change) REFERENCES changes (id)
);
INSERT INTO "verdicts" VALUES(1,1,'reviewer','Petra Voss','68e999f6ca64133366bcbd24f78a7d0bf4ff4503','approved','Fine.','2026-11-15T12:00:00+00:00');
INSERT INTO "verdicts" VALUES(2,3,'reviewer2','Theo Nakamura','d547554c75deffb662964d4440a81a3035cdc4e4','changes requested','Say which desk.','2026-11-15T12:00:00+00:00');
INSERT INTO "verdicts" VALUES(3,4,'reviewer','Petra Voss','fdcfd68832b8db52f21e9f74cef592ed6899e92d','approved','','2026-11-15T12:00:00+00:00');
CREATE TABLE viewed (
	who TEXT NOT NULL, 
	change INTEGER NOT NULL, 
	path TEXT NOT NULL, 
	blob TEXT NOT NULL, 
	PRIMARY KEY (who, change, path), 
	FOREIGN KEY(change) REFERENCES changes (id)
);
CREATE TABLE watches (
	id INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	what TEXT NOT NULL, 
	seen TEXT DEFAULT '[]' NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (account, kind, what)
);
CREATE TABLE webhooks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name TEXT NOT NULL, 
	url TEXT NOT NULL, 
	events TEXT DEFAULT '[]' NOT NULL, 
	format TEXT NOT NULL, 
	secret TEXT NOT NULL, 
	active INTEGER DEFAULT 1 NOT NULL, 
	failing REAL DEFAULT 0 NOT NULL, 
	created TEXT NOT NULL, 
	who TEXT NOT NULL
);
CREATE TABLE workers (
	name TEXT NOT NULL, 
	started TEXT NOT NULL, 
	seen REAL NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE workspace (
	id TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "workspace" VALUES('28500316b7ba4242a3c9e996cdd5d512');
CREATE UNIQUE INDEX accounts_address ON accounts (address);
CREATE UNIQUE INDEX accounts_subject ON accounts (issuer, subject) WHERE subject != '';
CREATE INDEX answer_ranks_question ON answer_ranks (doc, "key");
CREATE INDEX attempts_account ON attempts (account);
CREATE INDEX audit_change ON audit (change);
CREATE INDEX audit_commit ON audit (commit_id);
CREATE INDEX calls_at ON calls (at);
CREATE INDEX deliveries_due ON deliveries (state, due);
CREATE INDEX feedback_path ON feedback (path);
CREATE INDEX jobs_state ON jobs (state);
CREATE INDEX messages_account ON messages (account, read);
CREATE INDEX queries_at ON queries (at);
CREATE INDEX queries_key ON queries ("key");
CREATE INDEX replies_at ON replies (at);
CREATE INDEX runs_queryset ON runs (queryset, created);
CREATE INDEX comments_change ON comments (change);
CREATE INDEX delivery_attempts_delivery ON delivery_attempts (delivery);
CREATE INDEX sessions_account ON sessions (account);
CREATE INDEX tokens_account ON tokens (account);
CREATE INDEX tokens_prefix ON tokens (prefix);
CREATE INDEX verdicts_change ON verdicts (change);
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_grows BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit',26);
INSERT INTO "sqlite_sequence" VALUES('changes',5);
INSERT INTO "sqlite_sequence" VALUES('deliveries',0);
INSERT INTO "sqlite_sequence" VALUES('webhooks',0);
INSERT INTO "sqlite_sequence" VALUES('sessions',0);
INSERT INTO "sqlite_sequence" VALUES('tokens',1);
PRAGMA user_version = 35;
COMMIT;
